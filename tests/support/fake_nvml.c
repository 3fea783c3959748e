/* NVIDIA's management library as the binding (nvidia-ml-py) calls it, for devices that a text file describes.

   $FAKE_NVML names the file, read again at every call; a line is a device:
     uuid;name;memory bytes;used bytes;power mW;limit mW;energy mJ;alive;capability x 10;mode;reasons;of
   energy, power -1: not told (NVML_ERROR_NOT_SUPPORTED); alive 0: NVML_ERROR_GPU_IS_LOST for all that is asked of it;
   mode: of nvmlComputeMode; reasons: bits why the clock is low; of: - a card, "mig" a divided card, or the UUID of the
   card that this is a slice of. Cards are counted in the order of the lines, which is that of the bus. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OK = 0, INVALID = 2, UNSUPPORTED = 3, NOT_FOUND = 6, LOST = 15 };
#define MOST 8

typedef struct {
    char uuid[96], name[96];
    unsigned long long memory, used, limit;
    long long milliwatts, millijoules;
    int alive, capability, mode, reasons;
    char of[96];
} Device;

static Device devices[MOST];
static int numbers[MOST] = {0, 1, 2, 3, 4, 5, 6, 7}; /* a handle is the address of its number */

static int count_devices(void) {
    FILE *file = fopen(getenv("FAKE_NVML"), "r");
    int count = 0;
    if (!file) return 0;
    while (count < MOST) {
        Device *d = &devices[count];
        if (fscanf(file, " %95[^;];%95[^;];%llu;%llu;%lld;%llu;%lld;%d;%d;%d;%d;%95s", d->uuid, d->name, &d->memory,
                   &d->used, &d->milliwatts, &d->limit, &d->millijoules, &d->alive, &d->capability, &d->mode,
                   &d->reasons, d->of) != 12) break;
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

static int is_slice(const Device *d) { return strcmp(d->of, "-") && strcmp(d->of, "mig"); }

/* The place of the index-th card (of: NULL) or slice of a card; -1 where there is none. */
static int place_of(unsigned index, const char *of) {
    int count = count_devices();
    for (int place = 0; place < count; place++) {
        int fits = of ? !strcmp(devices[place].of, of) : !is_slice(&devices[place]);
        if (fits && index-- == 0) return place;
    }
    return -1;
}

int nvmlDeviceGetCount_v2(unsigned *count) {
    for (*count = 0; place_of(*count, NULL) >= 0; (*count)++);
    return OK;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, int **handle) {
    int place = place_of(index, NULL);
    if (place < 0) return INVALID;
    *handle = &numbers[place];
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
int nvmlDeviceGetPowerUsage(int *handle, unsigned *mw) {
    ASK(handle);
    if (d->milliwatts < 0) return UNSUPPORTED;
    *mw = d->milliwatts;
    return OK;
}
int nvmlDeviceGetCudaComputeCapability(int *handle, int *major, int *minor) {
    ASK(handle); *major = d->capability / 10; *minor = d->capability % 10; return OK;
}
int nvmlDeviceGetComputeMode(int *handle, unsigned *mode) { ASK(handle); *mode = d->mode; return OK; }
int nvmlDeviceGetCurrentClocksThrottleReasons(int *handle, unsigned long long *bits) {
    ASK(handle); *bits = d->reasons; return OK;
}
int nvmlDeviceGetMigMode(int *handle, unsigned *now, unsigned *next) {
    ASK(handle);
    if (is_slice(d) || d->capability < 80) return UNSUPPORTED;
    *now = *next = !strcmp(d->of, "mig");
    return OK;
}
int nvmlDeviceGetMaxMigDeviceCount(int *handle, unsigned *count) { ASK(handle); *count = 7; return OK; }
int nvmlDeviceGetMigDeviceHandleByIndex(int *handle, unsigned index, int **slice) {
    ASK(handle);
    char uuid[96];
    strcpy(uuid, d->uuid);
    int place = place_of(index, uuid);
    if (place < 0) return NOT_FOUND;
    *slice = &numbers[place];
    return OK;
}
int nvmlDeviceGetDeviceHandleFromMigDeviceHandle(int *handle, int **card) {
    ASK(handle);
    if (!is_slice(d)) return INVALID;
    for (int place = 0; place < count_devices(); place++)
        if (!strcmp(devices[place].uuid, devices[*handle].of)) { *card = &numbers[place]; return OK; }
    return NOT_FOUND;
}
typedef struct { unsigned multiprocessors, engines[5], gpu_slices, compute_slices; unsigned long long mb; } Attributes;
int nvmlDeviceGetAttributes_v2(int *handle, Attributes *attributes) {
    ASK(handle);
    if (!is_slice(d)) return UNSUPPORTED;
    memset(attributes, 0, sizeof *attributes);
    attributes->multiprocessors = 42;
    attributes->gpu_slices = attributes->compute_slices = 3;
    attributes->mb = d->memory >> 20;
    return OK;
}
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
