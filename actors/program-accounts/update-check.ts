import type { AccountNode } from '../../src/accounts/ports.ts'
import { distinctPubkeys, pubkeyMapKey, samePubkey, type Pubkey } from '../../src/chain/pubkey.ts'
import { ExpectedUpdates, lastOf } from '../../src/program-accounts/expected-updates.ts'
import type { TouchedAccount } from '../../src/program-accounts/touched-accounts.ts'
import type { MirrorMetrics } from '../../src/program-accounts/metrics.ts'
import type { AccountVersion } from '../../storage/port.ts'
import { isSame } from './mirror-store.ts'

/** Maximum accounts requested at once: one request. Further ones are left to the next audit. */
const SUSPECTS_MAX = 100
/** Tries to get an answer of a slot that is not too old, before the accounts are left to the next audit. */
const TRIES = 5
/** Rounds, each of which finds accounts for the next one, before these are left to the next audit. */
const ROUNDS = 5

export interface UpdateCheckDeps {
  readonly node: Pick<AccountNode, 'accounts'>
  readonly metrics: Pick<MirrorMetrics, 'checked'>
  /** Reads the stored versions of accounts, in their order; null for an account that is not stored. */
  readonly newest: (addresses: readonly Pubkey[]) => Promise<readonly (AccountVersion | null)[]>
  /** Receives a version whose update was missed. */
  readonly correct: (version: AccountVersion) => void
}

/** Accounts without an expected update, and the node's answer about them. */
interface Round {
  readonly addresses: readonly Pubkey[]
  readonly tries: number
  /** The answer at a slot that is not before the checked one; null until it has arrived. */
  readonly answer: { readonly slot: number; readonly versions: readonly AccountVersion[] } | null
}

/**
 * Finds updates that a node did not send. Of the accounts that blocks have touched, it reads those without an update that
 * are new or in the mirror. An account that differs is corrected at the slot of the answer.
 */
export class UpdateCheck {
  readonly #program: Pubkey
  readonly #deps: UpdateCheckDeps
  readonly #expected = new ExpectedUpdates()
  /** Accounts of the next round. */
  #suspects: readonly Pubkey[] = []
  #round: Round | null = null
  /** Rounds since updates were complete. */
  #rounds = 0

  constructor(program: Pubkey, deps: UpdateCheckDeps) {
    this.#program = program
    this.#deps = deps
  }

  expect(slot: number, accounts: readonly TouchedAccount[]): void {
    this.#expected.add(slot, accounts)
  }

  /** Ends the check of the slots up to one, whose state a snapshot has. Later slots are still checked. */
  forget(upTo: number): void {
    this.#expected.forget(upTo)
    this.#leave([])
  }

  /**
   * Resolves with whether the updates up to a slot are complete. False means that a later slot must be tried: there is no
   * usable answer yet, the node's answer is of a later slot, or missed versions were given to `correct`. Rejects with the
   * store's error.
   *
   * @param updates All that are not stored yet, ascending by slot.
   */
  async isComplete(slot: number, updates: readonly AccountVersion[], signal: AbortSignal): Promise<boolean> {
    await this.#suspect(this.#expected.takeMissing(slot, updates), updates)
    if (this.#round === null) {
      if (this.#suspects.length === 0 || this.#rounds === ROUNDS) return this.#leave(this.#suspects)
      this.#round = { addresses: this.#suspects, tries: 0, answer: null }
      this.#suspects = []
    }
    this.#round = await this.#request(this.#round, slot, signal)
    const { addresses, tries, answer } = this.#round
    if (answer === null) return tries < TRIES ? false : this.#leave([...addresses, ...this.#suspects])
    if (answer.slot > slot) return false
    const missed = await this.#differing(answer, updates)
    this.#count('same', addresses.length - missed.length)
    this.#count('missed', missed.length)
    for (const version of missed) this.#deps.correct(version)
    this.#round = null
    this.#rounds++
    // Corrections are among the updates of the next try.
    if (missed.length > 0 || this.#suspects.length > 0) return false
    return this.#leave([])
  }

  /** Ends the check of a slot, and leaves accounts to the next audit. */
  #leave(unchecked: readonly Pubkey[]): true {
    this.#count('unchecked', unchecked.length)
    this.#suspects = []
    this.#round = null
    this.#rounds = 0
    return true
  }

  /** Notes the accounts that are new or in the mirror: the others are of other programs. */
  async #suspect(accounts: readonly TouchedAccount[], updates: readonly AccountVersion[]): Promise<void> {
    if (accounts.length === 0) return
    const stored = await this.#deps.newest(accounts.map(({ address }) => address))
    const updated = new Set(updates.map(({ address }) => pubkeyMapKey(address)))
    const isKnown = (address: Pubkey, i: number) =>
      stored[i]?.account != null || updated.has(pubkeyMapKey(address))
    const found = accounts.filter(({ address, isNew }, i) => isNew || isKnown(address, i))
    const suspects = distinctPubkeys([...this.#suspects, ...found.map(({ address }) => address)])
    this.#suspects = suspects.slice(0, SUSPECTS_MAX)
    this.#count('unchecked', suspects.length - this.#suspects.length)
  }

  async #request(round: Round, slot: number, signal: AbortSignal): Promise<Round> {
    if (round.answer !== null) return round
    const { addresses } = round
    const tries = round.tries + 1
    try {
      const { slot: asOf, accounts } = await this.#deps.node.accounts(addresses, signal)
      if (asOf < slot) return { addresses, tries, answer: null }
      const versions = addresses.map((address, i): AccountVersion => {
        const account = accounts[i]
        if (account == null || !samePubkey(account.owner, this.#program))
          return { address, slot: asOf, account: null }
        const { owner: _, ...rest } = account
        return { address, slot: asOf, account: rest }
      })
      return { addresses, tries, answer: { slot: asOf, versions } }
    } catch {
      signal.throwIfAborted()
      return { addresses, tries, answer: null }
    }
  }

  /** Returns the states of an answer that differ both from the store and from the updates up to the answer's slot. */
  async #differing(
    { versions }: NonNullable<Round['answer']>,
    updates: readonly AccountVersion[]
  ): Promise<readonly AccountVersion[]> {
    const stored = await this.#deps.newest(versions.map(({ address }) => address))
    return versions.filter(({ address, slot, account }, i) => {
      const known = lastOf(updates, address, slot) ?? stored[i]
      return !isSame(known?.account ?? null, account)
    })
  }

  #count(outcome: 'same' | 'missed' | 'unchecked', accounts: number): void {
    if (accounts > 0) this.#deps.metrics.checked.inc({ outcome }, accounts)
  }
}
