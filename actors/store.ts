import type { Storage } from '../storage/port.ts'
import { aborted } from './aborted.ts'
import type { Run } from './process.ts'

/**
 * The process that owns the store: opens it, lets `prepare` make it fit for use, and closes it last. A store that must
 * be opened again crashes it, so that this happens at once and not only after everything built on it has given up.
 */
export function store(
  open: () => Promise<Storage>,
  prepare: (storage: Storage) => Promise<void>
): Run<unknown, Storage> {
  return async ({ draining, ready }) => {
    const storage = await open()
    try {
      await prepare(storage)
      ready(storage)
      const failure = await Promise.race([aborted(draining), storage.failed])
      if (failure !== undefined) throw failure
    } finally {
      await storage.close()
    }
  }
}
