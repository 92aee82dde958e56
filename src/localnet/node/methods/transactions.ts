import { encodeBase58 } from '../../../chain/base58.ts'
import type { FoundTransaction } from '../../chain.ts'
import { contextSlot, method, withSlot, type Method } from '../method.ts'
import {
  addressOf,
  atLeastConfirmed,
  booleanOf,
  commitmentOf,
  configOf,
  countOf,
  listOf,
  optional,
  signatureOf
} from '../params.ts'
import { invalidParams, transactionNotFound } from '../rpc-error.ts'
import { encodeExecuted, statusOf, wireOf } from '../transaction-encoding.ts'
import { encodingConfigOf, transactionEncodingOf, versionMaxOf } from './blocks.ts'
import { memoOf } from '../memo.ts'

/** Limits of agave: MAX_GET_SIGNATURE_STATUSES_QUERY_ITEMS, MAX_GET_CONFIRMED_SIGNATURES_FOR_ADDRESS2_LIMIT. */
const STATUSES_MAX = 256
const SIGNATURES_MAX = 1000
/** Number of slots whose statuses a node has without its history (agave, MAX_RECENT_BLOCKHASHES). */
const RECENT_SLOTS = 300

/** Methods about landed transactions. */
export const transactionMethods: Readonly<Record<string, Method>> = {
  getTransaction: method(1, 2, ({ chain }, [signature, options]) => {
    const key = signatureOf(signature)
    const config = encodingConfigOf(options)
    const encoding = transactionEncodingOf(config)
    const versionMax = versionMaxOf(config)
    const commitment = atLeastConfirmed(commitmentOf(config))
    const found = chain.transaction(key)
    if (found === null || found.slot > chain.slot(commitment)) return null
    return {
      slot: found.slot,
      ...encodeExecuted(found.transaction, encoding, versionMax),
      blockTime: found.blockTime,
      transactionIndex: found.indexInBlock
    }
  }),

  getSignatureStatuses: method(1, 2, ({ chain }, [signatures, options]) => {
    const list = listOf(signatures)
    const config = configOf(options, 'RpcSignatureStatusConfig')
    const history = optional(config.searchTransactionHistory, booleanOf) ?? false
    if (list.length > STATUSES_MAX) throw invalidParams(`Too many inputs provided; max ${STATUSES_MAX}`)
    const keys = list.map(signatureOf)
    const slot = chain.slot('processed')
    const statuses = keys.map((key) => {
      const found = chain.transaction(key)
      const known = found !== null && (history || found.slot > slot - RECENT_SLOTS)
      return known ? statusAt(found, slot) : null
    })
    return withSlot(slot, statuses)
  }),

  getSignaturesForAddress: method(1, 2, (node, [address, options]) => {
    const { chain } = node
    const config = configOf(options, 'RpcSignaturesForAddressConfig')
    const key = addressOf(address)
    const before = optional(config.before, signatureOf)
    const until = optional(config.until, signatureOf)
    const limit = optional(config.limit, (value) => countOf(value, 'usize')) ?? SIGNATURES_MAX
    if (limit === 0 || limit > SIGNATURES_MAX) throw invalidParams(`Invalid limit; max ${SIGNATURES_MAX}`)
    const commitment = atLeastConfirmed(commitmentOf(config))
    const last = contextSlot(node, commitment, config)
    if (before !== null && chain.transaction(before) === null) {
      throw transactionNotFound(encodeBase58(before))
    }
    return newest(node, key, { before, until, limit }, last).map((found) => ({
      signature: encodeBase58(found.transaction.signature),
      slot: found.slot,
      err: found.transaction.meta.err,
      memo: memoOf(wireOf(found.transaction)),
      blockTime: found.blockTime,
      confirmationStatus: found.slot <= chain.slot('finalized') ? 'finalized' : 'confirmed',
      transactionIndex: found.indexInBlock
    }))
  }),

  getTransactionCount: method(0, 1, (node, [options]) => {
    const config = configOf(options, 'RpcContextConfig')
    const commitment = commitmentOf(config)
    contextSlot(node, commitment, config)
    return node.statistics.transactionCount(commitment)
  })
}

function statusAt({ slot, transaction, commitment }: FoundTransaction, processed: number): object {
  const { err } = transaction.meta
  return {
    slot,
    // Votes on the block and its descendants; null once it is final.
    confirmations: commitment === 'finalized' ? null : processed - slot,
    status: statusOf(err),
    err,
    confirmationStatus: commitment
  }
}

/** Returns the newest transactions of an address up to a slot; those of later blocks are skipped, page by page. */
function newest(
  { chain }: Parameters<Method['run']>[0],
  address: Uint8Array,
  { before, until, limit }: { before: Uint8Array | null; until: Uint8Array | null; limit: number },
  last: number
): FoundTransaction[] {
  const found: FoundTransaction[] = []
  let from = before
  for (;;) {
    const page = chain.signaturesOf(address, {
      ...(from === null ? {} : { before: from }),
      ...(until === null ? {} : { until }),
      limit
    })
    found.push(...page.filter(({ slot }) => slot <= last))
    if (page.length < limit || found.length >= limit) return found.slice(0, limit)
    from = page.at(-1)!.transaction.signature
  }
}
