import type { DocumentStore } from '../../storage/document-store.ts'
import { withTtl } from '../../storage/document-definition.ts'
import { Documents } from '../../storage/documents.ts'
import { bundleIdOf } from '../signing/bundle-id.ts'
import { TIP_MIN_LAMPORTS, tipOf } from '../chain/tip.ts'
import { ServiceError } from '../kernel/errors.ts'
import type { Clock } from '../ports.ts'
import { BUNDLE, TRACKED_BUNDLES_PER_TENANT_MAX, type Bundle, type BundleProgress } from './bundle.ts'
import { bundleMembers, type BundleMember } from './bundle-member.ts'
import type { CheckedTransaction } from './checked-transaction.ts'
import type { TransactionServices } from './ports.ts'
import { partitionsOf, submissionPartition, transactionShard } from './submission.ts'

interface BundleIntakeDeps {
  readonly documents: DocumentStore
  readonly parts: Pick<TransactionServices, 'engine' | 'bundles' | 'retentionMs'>
  readonly clock: Pick<Clock, 'now'>
}

/** A bundle that a tenant submits: 1 to 5 checked transactions with different signatures. */
export interface BundleRequest {
  readonly bundleId: string
  readonly members: readonly CheckedTransaction[]
}

/** A stored bundle and its progress; null before the first progress. */
export interface FoundBundle {
  readonly bundle: Bundle
  readonly progress: BundleProgress | null
}

export interface FoundMember extends FoundBundle {
  readonly member: BundleMember
}

export function bundleRequestOf(members: readonly CheckedTransaction[]): BundleRequest {
  return { members, bundleId: bundleIdOf(members.map(({ signature }) => signature)) }
}

/** Accepts bundles of tenants: checks their tips, stores them, and passes them to tracking, which submits them. */
export class BundleIntake {
  readonly #deps: BundleIntakeDeps
  readonly #documents: Documents<Bundle, 'tracked', never, BundleProgress>
  readonly #members: Documents<BundleMember>

  constructor(deps: BundleIntakeDeps) {
    this.#deps = deps
    this.#documents = new Documents(deps.documents, withTtl(BUNDLE, deps.parts.retentionMs))
    this.#members = new Documents(deps.documents, bundleMembers(deps.parts.retentionMs))
  }

  /**
   * Checks the tip and the tenant's limit. Rejects with TIP_MISSING, TRANSACTION_LIMIT_REACHED, NOT_CONFIGURED or
   * UPSTREAM_ERROR. The limit does not apply to a bundle that the tenant has submitted before.
   */
  async check(tenant: string, request: BundleRequest, signal: AbortSignal): Promise<void> {
    const { engine } = this.#deps.parts
    if (engine === null) throw new ServiceError('NOT_CONFIGURED', 'no block engine is configured')
    const lamports = this.#tipOf(request, await engine.tipAccounts(signal))
    if (lamports < TIP_MIN_LAMPORTS) {
      const last = `txs.${request.members.length - 1}`
      throw new ServiceError(
        'TIP_MISSING',
        lamports === 0n
          ? `${last} has no tip: the last transaction needs a system transfer to one of the tip accounts, as a static account`
          : `${last} has a tip of ${lamports} lamports; the minimum is ${TIP_MIN_LAMPORTS}`
      )
    }
    if ((await this.#tracked(tenant)) < TRACKED_BUNDLES_PER_TENANT_MAX) return
    if ((await this.find(tenant, request.bundleId)) !== null) return
    throw new ServiceError(
      'TRANSACTION_LIMIT_REACHED',
      `this tenant has ${TRACKED_BUNDLES_PER_TENANT_MAX} tracked bundles, the most a tenant may have`
    )
  }

  /** Stores a checked bundle and starts to submit it. Does neither if the tenant has already submitted it. */
  async take(tenant: string, request: BundleRequest, signal: AbortSignal): Promise<void> {
    const { parts, clock } = this.#deps
    const { bundleId, members } = request
    const recent = members.filter(({ nonce }) => nonce === null)
    await Promise.all(
      members.map(({ signature, nonce }) =>
        this.#noteMember({ tenant, signature, bundleId, isRecent: nonce === null })
      )
    )
    const outcome = await this.#documents.insert({
      tenant,
      bundleId,
      signatures: members.map(({ signature }) => signature),
      wires: members.map(({ bytes }) => bytes),
      blockhashes: [...new Set(recent.map(({ blockhash }) => blockhash))],
      tipLamports: this.#tipOf(request, (await parts.engine?.tipAccounts(signal)) ?? []),
      receivedAtMs: clock.now(),
      end: null
    })
    if (outcome.ok) parts.bundles.begin(outcome.stored)
  }

  /** Returns a bundle of the tenant with its progress; null for any other. */
  async find(tenant: string, bundleId: string): Promise<FoundBundle | null> {
    const stored = await this.#documents.get(submissionPartition(tenant, bundleId), [tenant, bundleId])
    if (stored === null) return null
    if (stored.value.end !== null) return { bundle: stored.value, progress: stored.value.end }
    const [progress = null] = await this.#documents.hot([stored])
    return { bundle: stored.value, progress }
  }

  /** Returns the tenant's newest bundle with a transaction as a member; null if the transaction is in no bundle. */
  async findMember(tenant: string, signature: string): Promise<FoundMember | null> {
    const member = await this.#members.get(submissionPartition(tenant, signature), [tenant, signature])
    if (member === null) return null
    const found = await this.find(tenant, member.value.bundleId)
    return found === null ? null : { ...found, member: member.value }
  }

  /** Members are stored before the bundle, so that an acknowledged bundle has all of them. */
  async #noteMember(member: BundleMember): Promise<void> {
    const { tenant, signature, bundleId } = member
    const outcome = await this.#members.insert(member)
    if (outcome.ok) return
    const before = await this.#members.get(submissionPartition(tenant, signature), [tenant, signature])
    if (before !== null)
      await this.#members.change(before, (value) =>
        value.bundleId === bundleId ? value : { ...value, bundleId }
      )
  }

  #tipOf({ members }: BundleRequest, tipAccounts: readonly string[]): bigint {
    return tipOf(members.at(-1)!.wire, new Set(tipAccounts))
  }

  /** Counts a tenant's tracked bundles, up to its limit. */
  async #tracked(tenant: string): Promise<number> {
    const pages = await Promise.all(
      partitionsOf(transactionShard(tenant)).map((partition) =>
        this.#documents.listBy('tracked', partition, {
          prefix: [tenant],
          limit: TRACKED_BUNDLES_PER_TENANT_MAX
        })
      )
    )
    return pages.reduce((sum, { documents }) => sum + documents.length, 0)
  }
}
