import { StartRefused } from '../../machines/start-refused.ts'

/**
 * Runs a step of a start that writes to a directory. Rejects with StartRefused if the disk is full, since a restart
 * would end the same way.
 */
export async function refusedOnFullDisk<T>(directory: string, step: () => Promise<T>): Promise<T> {
  try {
    return await step()
  } catch (error) {
    if (!isDiskFull(error)) throw error
    const advice = 'free some space, or set MILLRACE_DATA_DIR to a folder on another disk'
    throw new StartRefused(`cannot write to ${directory}: the disk is full; ${advice}`, { cause: error })
  }
}

/**
 * Tells whether an error, or its cause, is a full disk. The system says so by code, the storage engine by its text
 * alone.
 */
export function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code, message, cause } = error as NodeJS.ErrnoException
  return code === 'ENOSPC' || /no space left on device/i.test(message) || isDiskFull(cause)
}
