import { StartRefused } from '../../machines/start-refused.ts'

/** Returns the advice for each fault that a restart does not fix, for a port of a setting. */
const adviceOn = (setting: string): Readonly<Record<string, string>> => ({
  EADDRINUSE: `another process listens there: end it, or set ${setting} to a free port`,
  EACCES: `the system does not allow it: set ${setting} to a port above 1023`,
  EADDRNOTAVAIL: 'this machine does not have the address: set MILLRACE_HOST (--host) to one that it has',
  ENOTSUP:
    'this system does not spread the connections of a port over processes: set MILLRACE_PROCESSES (--processes) to 1',
  ENOTFOUND: 'the name does not resolve: set MILLRACE_HOST (--host) to an address of this machine'
})

/**
 * Opens a listening socket. If a first failure cannot be fixed by a restart, it refuses the start. A later one is an
 * ordinary crash.
 */
export class Listening {
  readonly #advice: Readonly<Record<string, string>>
  #hasListened = false

  constructor(setting = 'MILLRACE_PORT (--port)') {
    this.#advice = adviceOn(setting)
  }

  /**
   * Runs `listen`. Rejects with StartRefused, which names the fault and the setting to change, or with the error of
   * `listen`.
   */
  async at<T>(host: string, port: number, listen: () => Promise<T>): Promise<T> {
    try {
      const listening = await listen()
      this.#hasListened = true
      return listening
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException
      const advice = this.#advice[code]
      if (this.#hasListened || advice === undefined) throw error
      throw new StartRefused(`cannot listen on ${host}:${port} (${code}): ${advice}`, { cause: error })
    }
  }

  /** Runs `listen` as `at` does. Returns the refusal of the start in one line, or null if it listens. */
  async refusal(host: string, port: number, listen: () => Promise<unknown>): Promise<string | null> {
    try {
      await this.at(host, port, listen)
      return null
    } catch (error) {
      if (error instanceof StartRefused) return error.message
      throw error
    }
  }
}
