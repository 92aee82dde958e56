import { encodeBase58 } from '../../../chain/base58.ts'
import { feeOf } from '../../bank/fees.ts'
import { SendFailure } from '../../chain.ts'
import { integer } from '../json.ts'
import { contextSlot, inContext, method, withSlot, type Method } from '../method.ts'
import {
  addressOf,
  booleanOf,
  commitmentOf,
  configOf,
  optional,
  strictCommitmentOf,
  stringOf,
  u64Of
} from '../params.ts'
import { internalError, invalidParams } from '../rpc-error.ts'
import {
  accountsAfter,
  encodeSimulation,
  loadedOf,
  refusal,
  simulate,
  staticKeys,
  requestedAccounts
} from '../simulation.ts'
import { lengthOf, messageOf, transactionBytes, transactionOf } from '../submitted-bytes.ts'
import { encodeInner } from '../transaction-encoding.ts'

/** Methods that accept a transaction which has not landed. */
export const submissionMethods: Readonly<Record<string, Method>> = {
  sendTransaction: method(1, 2, (node, [text, options]) => {
    const given = stringOf(text)
    const config = configOf(options, 'RpcSendTransactionConfig')
    const skipPreflight = optional(config.skipPreflight, booleanOf) ?? false
    const preflight = strictCommitmentOf(config.preflightCommitment)
    const bytes = transactionBytes(given, config)
    const wire = transactionOf(bytes)
    contextSlot(node, skipPreflight ? 'processed' : preflight, config)
    try {
      return encodeBase58(node.chain.send(bytes.subarray(0, lengthOf(wire)), { skipPreflight }))
    } catch (error) {
      // Without preflight a node forwards a transaction unchecked, and drops one that cannot land without a report.
      if (skipPreflight && isUnlanded(error)) return encodeBase58(wire.signatures[0]!)
      throw refusal(error, wire)
    }
  }),

  simulateTransaction: method(1, 2, (node, [text, options]) => {
    const given = stringOf(text)
    const config = configOf(options, 'RpcSimulateTransactionConfig')
    const sigVerify = optional(config.sigVerify, booleanOf) ?? false
    const replaceRecentBlockhash = optional(config.replaceRecentBlockhash, booleanOf) ?? false
    const withInner = optional(config.innerInstructions, booleanOf) ?? false
    const bytes = transactionBytes(given, config)
    const wire = transactionOf(bytes)
    const slot = contextSlot(node, commitmentOf(config), config)
    if (sigVerify && replaceRecentBlockhash) {
      throw invalidParams('sigVerify may not be used with replaceRecentBlockhash')
    }
    const requested = requestedAccounts(config, wire)
    const simulation = simulate(node.chain, bytes.subarray(0, lengthOf(wire)), wire, {
      sigVerify,
      replaceRecentBlockhash,
      accounts: requested?.addresses ?? []
    })
    const accounts = requested === null ? null : accountsAfter(node.chain, wire, requested, simulation)
    const parsed = wire.lookups.length === 0
    const inner = withInner ? encodeInner(simulation, staticKeys(wire), parsed) : null
    const loadedAddresses = loadedOf(node.chain, wire)
    const encoded = encodeSimulation(simulation, wire)
    return withSlot(slot, { ...encoded, accounts, innerInstructions: inner, loadedAddresses })
  }),

  requestAirdrop: method(2, 3, ({ chain }, [address, lamports, options]) => {
    stringOf(address)
    const amount = u64Of(lamports)
    const config = configOf(options, 'RpcRequestAirdropConfig')
    optional(config.recentBlockhash, stringOf)
    const to = addressOf(address)
    try {
      return encodeBase58(chain.airdrop(to, amount))
    } catch (error) {
      if (error instanceof SendFailure) throw internalError()
      throw error
    }
  }),

  getFeeForMessage: method(1, 2, (node, [text, options]) => {
    const given = stringOf(text)
    const config = configOf(options, 'RpcContextConfig')
    const wire = messageOf(given)
    return inContext(node, config, (commitment) =>
      node.chain.isBlockhashValid(wire.lifetime, commitment) ? integer(feeOf(wire)) : null
    )
  })
}

/** Tells whether the chain refused a transaction that a node would forward to a leader, which drops it. */
function isUnlanded(error: unknown): boolean {
  return error instanceof SendFailure && ['signature', 'blockhash', 'full'].includes(error.problem.kind)
}
