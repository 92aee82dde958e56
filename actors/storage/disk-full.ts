import { StartRefused } from '../../machines/start-refused.ts'

/**
 * Runs a step of a start that writes to a directory. Rejects with StartRefused where the disk is full: a restart would end
 * the same way.
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

/** Whether an error, or what caused it, is the disk being full: of the system by its code, of the engine by its text alone. */
function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code, message, cause } = error as NodeJS.ErrnoException
  return code === 'ENOSPC' || /no space left on device/i.test(message) || isDiskFull(cause)
}
