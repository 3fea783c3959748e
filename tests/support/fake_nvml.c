/* NVIDIA's management library as the binding (nvidia-ml-py) calls it, for devices that a text file describes.

   $FAKE_NVML names the file, read again at every call; a line is a device:
     uuid;name;memory bytes;used bytes;power mW;limit mW;energy mJ;alive
   energy -1: no such counter (NVML_ERROR_NOT_SUPPORTED); alive 0: NVML_ERROR_GPU_IS_LOST for all that is asked of it. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OK = 0, INVALID = 2, UNSUPPORTED = 3, NOT_FOUND = 6, LOST = 15 };
#define MOST 8

typedef struct {
    char uuid[96], name[96];
    unsigned long long memory, used, milliwatts, limit;
    long long millijoules;
    int alive;
} Device;

static Device devices[MOST];
static int numbers[MOST] = {0, 1, 2, 3, 4, 5, 6, 7}; /* a handle is the address of its number */

static int count_devices(void) {
    FILE *file = fopen(getenv("FAKE_NVML"), "r");
    int count = 0;
    if (!file) return 0;
    while (count < MOST) {
        Device *d = &devices[count];
        if (fscanf(file, " %95[^;];%95[^;];%llu;%llu;%llu;%llu;%lld;%d", d->uuid, d->name, &d->memory, &d->used,
                   &d->milliwatts, &d->limit, &d->millijoules, &d->alive) != 8) break;
        count++;
    }
    fclose(file);
    return count;
}

static int find(int *handle, Device **device) {
    if (*handle >= count_devices()) return INVALID;
    *device = &devices[*handle];
    return (*device)->alive ? OK : LOST;
}

int nvmlInitWithFlags(unsigned flags) { (void)flags; return OK; }
int nvmlShutdown(void) { return OK; }
const char *nvmlErrorString(int code) { return code == LOST ? "GPU is lost" : "refused"; }

int nvmlSystemGetDriverVersion(char *text, unsigned length) { snprintf(text, length, "580.00"); return OK; }

int nvmlDeviceGetCount_v2(unsigned *count) { *count = count_devices(); return OK; }

int nvmlDeviceGetHandleByIndex_v2(unsigned index, int **handle) {
    if ((int)index >= count_devices()) return INVALID;
    *handle = &numbers[index];
    return OK;
}

int nvmlDeviceGetHandleByUUID(const char *uuid, int **handle) {
    int count = count_devices();
    for (int place = 0; place < count; place++)
        if (!strcmp(uuid, devices[place].uuid)) { *handle = &numbers[place]; return OK; }
    return NOT_FOUND;
}

#define ASK(handle) Device *d; int code = find(handle, &d); if (code) return code

int nvmlDeviceGetUUID(int *handle, char *text, unsigned length) {
    ASK(handle); snprintf(text, length, "%s", d->uuid); return OK;
}
int nvmlDeviceGetName(int *handle, char *text, unsigned length) {
    ASK(handle); snprintf(text, length, "%s", d->name); return OK;
}
int nvmlDeviceGetMemoryInfo(int *handle, unsigned long long info[3]) { /* total, free, used */
    ASK(handle); info[0] = d->memory; info[1] = d->memory - d->used; info[2] = d->used; return OK;
}
int nvmlDeviceGetUtilizationRates(int *handle, unsigned rates[2]) { ASK(handle); rates[0] = 90; rates[1] = 40; return OK; }
int nvmlDeviceGetPowerUsage(int *handle, unsigned *mw) { ASK(handle); *mw = d->milliwatts; return OK; }
int nvmlDeviceGetEnforcedPowerLimit(int *handle, unsigned *mw) { ASK(handle); *mw = d->limit; return OK; }
int nvmlDeviceGetTemperature(int *handle, int sensor, unsigned *celsius) {
    ASK(handle); *celsius = 60 + sensor; return OK;
}
int nvmlDeviceGetClockInfo(int *handle, int type, unsigned *mhz) { ASK(handle); *mhz = 1400 + type; return OK; }
int nvmlDeviceGetMaxClockInfo(int *handle, int type, unsigned *mhz) { ASK(handle); *mhz = 1980 + type; return OK; }
int nvmlDeviceGetTotalEnergyConsumption(int *handle, unsigned long long *mj) {
    ASK(handle);
    if (d->millijoules < 0) return UNSUPPORTED;
    *mj = d->millijoules;
    return OK;
}
