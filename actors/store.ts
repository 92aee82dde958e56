import type { Storage } from '../storage/port.ts'
import { aborted } from './aborted.ts'
import type { Run } from './process.ts'

/** The process that owns the store: opens it, lets `prepare` make it fit for use, and closes it last. */
export function store(
  open: () => Promise<Storage>,
  prepare: (storage: Storage) => Promise<void>
): Run<unknown, Storage> {
  return async ({ draining, ready }) => {
    const storage = await open()
    try {
      await prepare(storage)
      ready(storage)
      await aborted(draining)
    } finally {
      await storage.close()
    }
  }
}
