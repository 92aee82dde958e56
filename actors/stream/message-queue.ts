import PQueue from 'p-queue'

/** The messages of one client, handled one after another. */
export class MessageQueue {
  /** Null while it is empty, since a queue takes 0.9 KB. */
  #queue: PQueue | null = null

  /** Handles a message after those before it. `failed` is called with what the handler rejects with. */
  add(handle: () => Promise<void>, failed: (fault: unknown) => void): void {
    const queue = (this.#queue ??= new PQueue({ concurrency: 1 }))
    void queue
      .add(handle)
      .catch(failed)
      .finally(() => {
        if (queue.size + queue.pending === 0 && this.#queue === queue) this.#queue = null
      })
  }
}
