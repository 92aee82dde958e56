import type { MeasuredProcess } from './measured-process.ts'

const SAMPLE_MS = 250

/** Resident memory of a server from its start to its end, in MiB. */
export class Memory {
  readonly #server: Pick<MeasuredProcess, 'rssMib'>
  readonly #atStart: number
  readonly #notes: Record<string, number> = {}
  readonly #timer: NodeJS.Timeout
  #peak: number

  constructor(server: Pick<MeasuredProcess, 'rssMib'>) {
    this.#server = server
    this.#atStart = server.rssMib()
    this.#peak = this.#atStart
    this.#timer = setInterval(() => this.#sample(), SAMPLE_MS)
  }

  note(after: string): void {
    this.#notes[after] = Math.round(this.#sample())
  }

  end() {
    clearInterval(this.#timer)
    return { start: Math.round(this.#atStart), peak: Math.round(this.#peak), after: this.#notes }
  }

  #sample(): number {
    const rss = this.#server.rssMib()
    this.#peak = Math.max(this.#peak, rss)
    return rss
  }
}
