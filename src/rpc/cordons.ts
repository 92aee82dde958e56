import { z } from 'zod'
import { defineDocument } from '../../storage/document-definition.ts'
import type { DocumentStore } from '../../storage/document-store.ts'
import { Documents, type Stored } from '../../storage/documents.ts'
import type { NodeId } from './node-ids.ts'

/** All cordons are in one partition: an operator has few nodes. */
const PARTITION = 'nodes'

/** A node that an operator has taken out of use for the RPC URL. */
export const CORDON = defineDocument({
  kind: 'node-cordon',
  schema: z.object({
    /** Id and digest of the node when it was cordoned. */
    id: z.string(),
    digest: z.string(),
    cordonedAtMs: z.number()
  }),
  partition: () => PARTITION,
  key: ({ id }) => [id]
})
export type Cordon = z.infer<typeof CORDON.schema>

/**
 * Returns the cordon of a node; undefined if it is not cordoned. It stays cordoned if its key is replaced in the URL,
 * because the id does not change. It also does if a second node on its host changes its id, because the digest does not
 * change.
 */
export const cordonOf = (cordons: readonly Cordon[], { id, digest }: NodeId): Cordon | undefined =>
  cordons.find((each) => each.digest === digest || each.id === id)

/** The cordons of operators, as stored: they hold in all processes, even after a restart. */
export class Cordons {
  readonly #documents: Documents<Cordon>

  constructor(documents: DocumentStore) {
    this.#documents = new Documents(documents, CORDON)
  }

  async list(): Promise<readonly Cordon[]> {
    return (await this.#all()).map(({ value }) => value)
  }

  /** Cordons a node. A node that is already cordoned is not changed. */
  async add(node: NodeId, nowMs: number): Promise<void> {
    const cordons = await this.list()
    if (cordonOf(cordons, node) !== undefined) return
    await this.#documents.insert({ id: node.id, digest: node.digest, cordonedAtMs: nowMs })
  }

  /** Ends the cordons of a node. */
  async remove(node: NodeId): Promise<void> {
    for (const stored of await this.#all())
      if (cordonOf([stored.value], node) !== undefined) await this.#documents.delete(stored)
  }

  #all(): Promise<Stored<Cordon>[]> {
    return this.#documents.all(PARTITION)
  }
}
