/**
 * A reason why the service cannot start, which waiting or a restart does not change: it is told in one line, with the
 * setting to look at, and ends the process with exit code 1.
 */
export class StartRefused extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'StartRefused'
  }
}
