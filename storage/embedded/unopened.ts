import { ServiceError } from '../../src/kernel/errors.ts'

const LOCKED = 'LEVEL_LOCKED'

/** The error of a store that cannot be opened, by the engine's message. */
export function unopened(directory: string, cause: unknown): ServiceError {
  if (cause instanceof ServiceError) return cause
  const reason = reasonOf(cause)
  const detail =
    reason?.code === LOCKED
      ? `the store in ${directory} is open in another process`
      : `the store in ${directory} cannot be opened: ${reason?.message ?? String(cause)}`
  return new ServiceError('STORAGE_UNAVAILABLE', detail, { cause })
}

/** Tells whether a store could not be opened because another process has it open. */
export function isOpenElsewhere(error: unknown): boolean {
  return error instanceof ServiceError && reasonOf(error.cause)?.code === LOCKED
}

/** The innermost error: the engine wraps its own, the file system's is given as it is. */
function reasonOf(error: unknown): Partial<NodeJS.ErrnoException> | undefined {
  if (!(error instanceof Error)) return undefined
  return reasonOf(error.cause) ?? error
}
