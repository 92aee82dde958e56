import type { ChangeBatch, PublishedChange } from '../../src/transactions/change-batch.ts'
import { isSameChange, type SubmissionChange } from '../../src/transactions/changes.ts'

/**
 * Changes that the previous process published after this one took over, by tenant and signature. A signature's change is
 * kept until this process has a change of it to publish.
 */
export class AdoptedChanges {
  readonly #adopted = new Map<string, Map<string, PublishedChange>>()

  /** Takes in a batch that the previous process stored after this one took over. */
  add({ tenant, changes }: ChangeBatch): void {
    const adopted = this.#adopted.get(tenant) ?? new Map<string, PublishedChange>()
    for (const change of changes) adopted.set(change.signature, change)
    this.#adopted.set(tenant, adopted)
  }

  /** Removes changes that the previous process has published meanwhile. */
  unpublished(tenant: string, changes: readonly SubmissionChange[]): readonly SubmissionChange[] {
    const adopted = this.#adopted.get(tenant)
    if (adopted === undefined) return changes
    const unpublished = changes.filter((change) => {
      const published = adopted.get(change.signature) ?? null
      adopted.delete(change.signature)
      return !isSameChange(published, change)
    })
    if (adopted.size === 0) this.#adopted.delete(tenant)
    return unpublished
  }
}
