import { statfs } from 'node:fs/promises'
import { Gauge, type Registry } from 'prom-client'

/** Registers the free space of the disk with the data folder. */
export function diskMetrics(registry: Registry, dataDir: string): void {
  new Gauge({
    name: 'millrace_disk_free_bytes',
    help: 'Bytes that the disk of the data folder has left for this process; absent if there is no such folder',
    registers: [registry],
    async collect() {
      const disk = await statfs(dataDir).catch(() => null)
      if (disk === null) this.remove()
      else this.set(disk.bavail * disk.bsize)
    }
  })
}
