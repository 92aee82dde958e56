import PQueue from 'p-queue'

/** Begins work when it is its turn. */
export type BeginInTurn = (begin: () => void) => Promise<void>

/** The messages of one client, handled one after another, each in a turn of the tenant. */
export class MessageQueue {
  readonly #inTurn: BeginInTurn
  /** Null while it is empty, since a queue takes 0.9 KB. */
  #queue: PQueue | null = null

  constructor(inTurn: BeginInTurn) {
    this.#inTurn = inTurn
  }

  /**
   * Handles a message after those before it. Its turn ends at the first wait, such as for the store. `failed` is called with
   * what the handler rejects with.
   */
  add(handle: () => Promise<void>, failed: (fault: unknown) => void): void {
    const queue = (this.#queue ??= new PQueue({ concurrency: 1 }))
    const inTurn = async (): Promise<void> => {
      const handled = Promise.withResolvers<void>()
      await this.#inTurn(() => void handle().then(handled.resolve, handled.reject))
      await handled.promise
    }
    void queue
      .add(inTurn)
      .catch(failed)
      .finally(() => {
        if (queue.size + queue.pending === 0 && this.#queue === queue) this.#queue = null
      })
  }
}
