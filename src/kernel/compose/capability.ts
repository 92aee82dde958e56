/** Declares an object that one product gives and others use, such as a queue of blocks or a handle. */
export interface Capability<Kernel, T> {
  readonly make: (kernel: Kernel) => T
}

/** The capabilities of a process. Each is made once, at its first use; those that nothing uses are never made. */
export class Capabilities<Kernel> {
  readonly #made = new Map<Capability<Kernel, unknown>, unknown>()
  #isSealed = false

  /** Returns a capability. Throws TypeError for a new one once sealed: what feeds it runs already, and would not know it. */
  get<T>(capability: Capability<Kernel, T>, kernel: Kernel): T {
    if (!this.#made.has(capability)) {
      if (this.#isSealed) throw new TypeError('a capability is used for the first time after the start')
      this.#made.set(capability, capability.make(kernel))
    }
    return this.#made.get(capability) as T
  }

  /** Ends the making of capabilities: every unit is wired. */
  seal(): void {
    this.#isSealed = true
  }
}
