import PQueue from 'p-queue'

/** Limits of concurrent fetches, in total and of one host. While one host hangs, most fetches stay free for others. */
export interface FetchLimits {
  readonly concurrency: number
  readonly hostConcurrency: number
}

/** Runs fetches when their host and the process have a place. */
export class FetchPlaces {
  readonly #all: PQueue
  readonly #hosts = new Map<string, PQueue>()
  readonly #hostConcurrency: number

  constructor({ concurrency, hostConcurrency }: FetchLimits) {
    this.#all = new PQueue({ concurrency })
    this.#hostConcurrency = hostConcurrency
  }

  async run<T>(url: string, fetch: () => Promise<T>): Promise<T> {
    const host = URL.canParse(url) ? new URL(url).host : ''
    const queue = this.#hosts.get(host) ?? new PQueue({ concurrency: this.#hostConcurrency })
    this.#hosts.set(host, queue)
    try {
      return await queue.add(() => this.#all.add(fetch))
    } finally {
      if (queue.size === 0 && queue.pending === 0) this.#hosts.delete(host)
    }
  }
}
