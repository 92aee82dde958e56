import { ServiceError } from '../../src/errors.ts'

/** Why a store cannot be opened, from what the engine says. */
export function unopened(directory: string, cause: unknown): ServiceError {
  if (cause instanceof ServiceError) return cause
  const reason = cause instanceof Error ? (cause.cause as { code?: string } | undefined)?.code : undefined
  const detail =
    reason === 'LEVEL_LOCKED'
      ? `the store in ${directory} is open in another process`
      : `the store in ${directory} cannot be opened`
  return new ServiceError('STORAGE_UNAVAILABLE', detail, { cause })
}
