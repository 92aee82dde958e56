import type { MeasuredProcess } from './measured-process.ts'

const SAMPLE_MS = 250

/** Resident memory of a server from its start to its end, in MiB. Its anonymous part has no mapped tables of the store. */
export class Memory {
  readonly #server: Pick<MeasuredProcess, 'rssMib' | 'anonymousMib'>
  readonly #atStart: number
  readonly #notes: Record<string, number> = {}
  readonly #timer: NodeJS.Timeout
  #peak: number
  #anonymousPeak = 0

  constructor(server: Pick<MeasuredProcess, 'rssMib' | 'anonymousMib'>) {
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
    return {
      ...{ start: Math.round(this.#atStart), peak: Math.round(this.#peak) },
      ...{ anonymous_peak: Math.round(this.#anonymousPeak), after: this.#notes }
    }
  }

  #sample(): number {
    const rss = this.#server.rssMib()
    this.#peak = Math.max(this.#peak, rss)
    this.#anonymousPeak = Math.max(this.#anonymousPeak, this.#server.anonymousMib())
    return rss
  }
}
