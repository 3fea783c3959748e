"""torch's own launcher (torchrun) as a process that dies with its supervisor: one training process a device."""

import sys

from sweetspot.harness.train import die_with_supervisor

if __name__ == "__main__":
    die_with_supervisor()
    from torch.distributed.run import main

    main(sys.argv[1:])
