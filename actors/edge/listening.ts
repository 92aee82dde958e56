import { StartRefused } from '../../machines/start-refused.ts'

const ADVICE: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another process listens there: end it, or set MILLRACE_PORT (--port) to a free port',
  EACCES: 'the system does not allow it: set MILLRACE_PORT (--port) to a port above 1023',
  EADDRNOTAVAIL: 'this machine does not have the address: set MILLRACE_HOST (--host) to one that it has',
  ENOTFOUND: 'the name does not resolve: set MILLRACE_HOST (--host) to an address of this machine'
}

/** How a process listens: a first failure that waiting cannot mend refuses the start; a later one is a crash like others. */
export class Listening {
  #hasListened = false

  /** Runs `listen`. Rejects with StartRefused, which says what is wrong and which setting to look at, or as `listen` does. */
  async at<T>(host: string, port: number, listen: () => Promise<T>): Promise<T> {
    try {
      const listening = await listen()
      this.#hasListened = true
      return listening
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException
      const advice = ADVICE[code]
      if (this.#hasListened || advice === undefined) throw error
      throw new StartRefused(`cannot listen on ${host}:${port} (${code}): ${advice}`, { cause: error })
    }
  }
}
