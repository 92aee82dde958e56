import { ATTEMPTS_A_PAGE, deleteAttempts, storeAttempts } from '../../src/webhooks/attempts.ts'
import { attemptLine, attemptsIn, linesText } from '../../src/webhooks/attempt-line.ts'
import type { DeliveryAttempt, StoredAttempt, Webhook } from '../../src/webhooks/webhook.ts'
import type { DocumentStore } from '../../storage/document-store.ts'
import { isOutage } from '../storage/retry.ts'

/** Maximum attempts held while pages cannot be stored; above it the oldest are lost. They fit beside the progress. */
const RECENT_MAX = 2 * ATTEMPTS_A_PAGE
/** Pages written for each deletion of old ones: a list of pages is read for every 250 attempts. */
const PAGES_A_DELETION = 8

/**
 * The attempts of one webhook. The newest are written together with its progress, without a write of their own. Once there
 * are enough, they are stored as a page.
 */
export class AttemptLog {
  readonly #store: DocumentStore
  readonly #report: (fault: unknown) => void
  readonly #webhook: Pick<Webhook, 'tenant' | 'id'>
  #recent: string[] = []
  #isStoring = false
  #pages = 0

  constructor(
    store: DocumentStore,
    { tenant, id }: Pick<Webhook, 'tenant' | 'id'>,
    report: (fault: unknown) => void
  ) {
    this.#store = store
    this.#webhook = { tenant, id }
    this.#report = report
  }

  /** Attempts that are in no page, oldest first. */
  get recent(): readonly string[] {
    return this.#recent
  }

  /** The recent attempts as one text, to be written beside the progress. */
  get text(): string {
    return linesText(this.#recent)
  }

  /** Begins with the attempts that an earlier process left beside the progress. */
  restore(attempts: string | readonly StoredAttempt[]): void {
    this.#recent = attemptsIn(attempts).map((each) => (typeof each === 'string' ? each : attemptLine(each)))
  }

  add(attempt: DeliveryAttempt): void {
    this.#recent = [...this.#recent, attemptLine(attempt)].slice(-RECENT_MAX)
    if (this.#recent.length < ATTEMPTS_A_PAGE || this.#isStoring) return
    this.#isStoring = true
    void this.#storePage().finally(() => (this.#isStoring = false))
  }

  async #storePage(): Promise<void> {
    const { tenant, id } = this.#webhook
    const page = this.#recent
    try {
      await storeAttempts(this.#store, tenant, id, page)
      this.#recent = this.#recent.filter((attempt) => !page.includes(attempt))
      this.#pages++
      if (this.#pages % PAGES_A_DELETION === 0) await deleteAttempts(this.#store, tenant, id)
    } catch (error) {
      // The attempts stay, and the next one tries again.
      if (!isOutage(error)) this.#report(error)
    }
  }
}
