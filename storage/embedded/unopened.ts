import { ServiceError } from '../../src/errors.ts'

/** Why a store cannot be opened, from what the engine says. */
export function unopened(directory: string, cause: unknown): ServiceError {
  if (cause instanceof ServiceError) return cause
  const reason =
    cause instanceof Error ? (cause.cause as Partial<NodeJS.ErrnoException> | undefined) : undefined
  const detail =
    reason?.code === 'LEVEL_LOCKED'
      ? `the store in ${directory} is open in another process`
      : `the store in ${directory} cannot be opened: ${reason?.message ?? String(cause)}`
  return new ServiceError('STORAGE_UNAVAILABLE', detail, { cause })
}
