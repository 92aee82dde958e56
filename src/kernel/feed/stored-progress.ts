import { z } from 'zod'
import { defineDocument, type DocumentDefinition } from '../../../storage/document-definition.ts'
import type { DocumentStore } from '../../../storage/document-store.ts'
import { Documents } from '../../../storage/documents.ts'

/** The progress that a follower adopts, and how it stores its own. */
export interface ClaimedProgress<Progress> {
  readonly progress: Progress
  readonly save: (progress: Progress) => Promise<void>
  /** Whether this process is still the last to have announced itself. */
  readonly isOurs: () => Promise<boolean>
}

/** The stored progress of the only follower of a kind, under the fencing token of its process. */
export class StoredProgress<Progress> {
  readonly #documents: Documents<Record<never, never>, never, never, Progress>
  readonly #partition: string
  readonly #none: Progress

  /** `kind` is a section of stored keys. `none` is the progress before the first. */
  constructor(
    store: DocumentStore,
    {
      kind,
      schema,
      none
    }: { readonly kind: string; readonly schema: z.ZodType<Progress>; readonly none: Progress }
  ) {
    const definition: DocumentDefinition<Record<never, never>, never, never, Progress> = defineDocument({
      kind,
      schema: z.object({}),
      partition: () => kind,
      key: () => ['all'],
      hot: schema
    })
    this.#documents = new Documents(store, definition)
    this.#partition = kind
    this.#none = none
  }

  async get(): Promise<Progress> {
    const stored = await this.#documents.get(this.#partition, ['all'])
    if (stored === null) return this.#none
    const [hot] = await this.#documents.hot([stored])
    return hot ?? this.#none
  }

  /** Announces a writer with a token. Resolves with the progress and how to store it; both reject with the store's error. */
  async claim(token: number): Promise<ClaimedProgress<Progress>> {
    const outcome = await this.#documents.insert({})
    const stored = outcome.ok ? outcome.stored : await this.#documents.get(this.#partition, ['all'])
    const { hot } = await this.#documents.fenceHot(stored!, token)
    const save = async (progress: Progress): Promise<void> => this.#documents.putHot(stored!, token, progress)
    const isOurs = async (): Promise<boolean> => {
      const [now] = await this.#documents.fencedHot([stored!])
      return now!.token <= token
    }
    return { progress: hot ?? this.#none, save, isOurs }
  }
}
