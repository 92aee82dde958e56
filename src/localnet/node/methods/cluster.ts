import { encodeBase58 } from '../../../chain/base58.ts'
import { pubkeyToBase58 } from '../../../chain/pubkey.ts'
import { contextSlot, inContext, method, NODE_VERSION, type Method } from '../method.ts'
import { addressOf, blockhashOf, commitmentOf, configOf, countOf, listOf, optional } from '../params.ts'
import { invalidParams, noSnapshot } from '../rpc-error.ts'

/** Slots of an epoch, as on mainnet (agave, DEFAULT_SLOTS_PER_EPOCH). Epochs begin at slot 0 and have no warm-up. */
const SLOTS_PER_EPOCH = 432_000
/** Maximum number of leaders in getSlotLeaders (agave, MAX_GET_SLOT_LEADERS). */
const LEADERS_MAX = 5_000
/** Maximum number of accounts in a fee query, which is a transaction's maximum of locks (agave, MAX_TX_ACCOUNT_LOCKS). */
const LOCKS_MAX = 128
const STAKE_MINIMUM = 1_000_000_000
/** The feature set of Agave 4.2.1; clients show it, but none depends on it. */
const FEATURE_SET = 565_236_538

/** Methods about the whole chain. */
export const clusterMethods: Readonly<Record<string, Method>> = {
  getHealth: method(0, 0, () => 'ok'),
  getVersion: method(0, 0, () => nodeVersion()),
  getIdentity: method(0, 0, ({ identity }) => ({ identity: pubkeyToBase58(identity) })),
  getGenesisHash: method(0, 0, ({ chain }) => encodeBase58(chain.genesisHash)),

  getSlot: method(0, 1, (node, [options]) => {
    const config = configOf(options, 'RpcContextConfig')
    return contextSlot(node, commitmentOf(config), config)
  }),

  getBlockHeight: method(0, 1, (node, [options]) => {
    const config = configOf(options, 'RpcContextConfig')
    const commitment = commitmentOf(config)
    contextSlot(node, commitment, config)
    return node.chain.blockHeight(commitment)
  }),

  getLatestBlockhash: method(0, 1, (node, [options]) => {
    return inContext(node, configOf(options, 'RpcContextConfig'), (commitment) => {
      const { blockhash, lastValidBlockHeight } = node.chain.latestBlockhash(commitment)
      return { blockhash: encodeBase58(blockhash), lastValidBlockHeight }
    })
  }),

  isBlockhashValid: method(1, 2, (node, [blockhash, options]) => {
    const config = configOf(options, 'RpcContextConfig')
    const key = blockhashOf(blockhash)
    return inContext(node, config, (commitment) => node.chain.isBlockhashValid(key, commitment))
  }),

  getEpochInfo: method(0, 1, (node, [options]) => {
    const config = configOf(options, 'RpcContextConfig')
    const commitment = commitmentOf(config)
    const absoluteSlot = contextSlot(node, commitment, config)
    return {
      epoch: Math.floor(absoluteSlot / SLOTS_PER_EPOCH),
      slotIndex: absoluteSlot % SLOTS_PER_EPOCH,
      slotsInEpoch: SLOTS_PER_EPOCH,
      absoluteSlot,
      blockHeight: node.chain.blockHeight(commitment),
      transactionCount: node.statistics.transactionCount(commitment)
    }
  }),

  getEpochSchedule: method(0, 0, () => ({
    slotsPerEpoch: SLOTS_PER_EPOCH,
    leaderScheduleSlotOffset: SLOTS_PER_EPOCH,
    warmup: false,
    firstNormalEpoch: 0,
    firstNormalSlot: 0
  })),

  getSlotLeader: method(0, 1, (node, [options]) => {
    const config = configOf(options, 'RpcContextConfig')
    contextSlot(node, commitmentOf(config), config)
    return pubkeyToBase58(node.identity)
  }),

  getSlotLeaders: method(2, 2, ({ chain, identity }, [start, limit]) => {
    const first = countOf(start)
    const count = countOf(limit)
    if (count > LEADERS_MAX) throw invalidParams(`Invalid limit; max ${LEADERS_MAX}`)
    const epoch = Math.floor(first / SLOTS_PER_EPOCH)
    // Leaders are known until the end of the next epoch.
    const known = Math.floor(chain.slot('finalized') / SLOTS_PER_EPOCH) + 1
    if (count > 0 && epoch > known) {
      throw invalidParams(`Invalid slot range: leader schedule for epoch ${epoch} is unavailable`)
    }
    return new Array<string>(count).fill(pubkeyToBase58(identity))
  }),

  getStakeMinimumDelegation: method(0, 1, (node, [options]) =>
    inContext(node, configOf(options, 'RpcContextConfig'), () => STAKE_MINIMUM)
  ),

  getRecentPrioritizationFees: method(0, 1, ({ statistics }, [addresses]) => {
    const list = optional(addresses, listOf) ?? []
    if (list.length > LOCKS_MAX) throw invalidParams(`Too many inputs provided; max ${LOCKS_MAX}`)
    return statistics.prioritizationFees(list.map(addressOf))
  }),

  getRecentPerformanceSamples: method(0, 1, (_node, [limit]) => {
    optional(limit, (value) => countOf(value, 'usize'))
    return []
  }),

  getClusterNodes: method(0, 0, ({ identity }) => [
    {
      pubkey: pubkeyToBase58(identity),
      clientId: null,
      gossip: null,
      tvu: null,
      tpu: null,
      tpuQuic: null,
      tpuForwards: null,
      tpuForwardsQuic: null,
      tpuVote: null,
      serveRepair: null,
      rpc: null,
      pubsub: null,
      version: NODE_VERSION,
      featureSet: FEATURE_SET,
      shredVersion: 0
    }
  ]),

  getHighestSnapshotSlot: method(0, 0, () => {
    throw noSnapshot()
  })
}

export function nodeVersion(): object {
  return { 'solana-core': NODE_VERSION, 'feature-set': FEATURE_SET }
}
