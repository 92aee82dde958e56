/**
 * A fault that prevents the start; neither waiting nor a restart can fix it. It is logged in one line with the setting to
 * check, and ends the process with exit code 1.
 */
export class StartRefused extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'StartRefused'
  }
}
