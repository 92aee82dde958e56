import {
  address,
  createSolanaRpc,
  signature as signatureOf,
  type Base64EncodedWireTransaction,
  type Blockhash,
  type TransactionMessageBytesBase64
} from '@solana/kit'
import {
  PublicKey,
  SystemProgram,
  TransactionMessage,
  VersionedTransaction,
  type Connection
} from '@solana/web3.js'
import type { ChainFacts } from '../../src/rpc/conformance-cases.ts'

/** Calls of a library's public methods, by name. */
export type LibraryCalls = Readonly<Record<string, () => Promise<unknown>>>

const READ = { commitment: 'finalized', maxSupportedTransactionVersion: 0 } as const

/** Every reading method of web3.js' Connection whose requests are served. */
export function web3Calls(connection: Connection, facts: ChainFacts): LibraryCalls {
  const { slot, signature, blockhash } = facts
  const [wallet, mint, tokens] = [facts.address, facts.mint, facts.tokenAccount].map(
    (key) => new PublicKey(key)
  )
  const [key, both] = [wallet!, [wallet!, mint!]]
  const transfer = SystemProgram.transfer({ fromPubkey: key, toPubkey: key, lamports: 1 })
  const unsigned = new TransactionMessage({
    payerKey: key,
    recentBlockhash: blockhash,
    instructions: [transfer]
  })
  const message = unsigned.compileToLegacyMessage()
  return {
    getBalance: () => connection.getBalance(key),
    getBalanceAndContext: () => connection.getBalanceAndContext(key, 'confirmed'),
    getAccountInfo: () => connection.getAccountInfo(mint!),
    getAccountInfoAndContext: () =>
      connection.getAccountInfoAndContext(mint!, { dataSlice: { offset: 0, length: 8 } }),
    getParsedAccountInfo: () => connection.getParsedAccountInfo(tokens!),
    getMultipleAccountsInfo: () => connection.getMultipleAccountsInfo(both),
    getMultipleAccountsInfoAndContext: () => connection.getMultipleAccountsInfoAndContext(both),
    getMultipleParsedAccounts: () => connection.getMultipleParsedAccounts(both),
    getTokenAccountBalance: () => connection.getTokenAccountBalance(tokens!),
    getTokenSupply: () => connection.getTokenSupply(mint!),
    getAddressLookupTable: () => connection.getAddressLookupTable(key),
    getNonce: () => connection.getNonce(key),
    getBlock: () => connection.getBlock(slot, READ),
    'getBlock without details': () => connection.getBlock(slot, { ...READ, transactionDetails: 'none' }),
    getParsedBlock: () => connection.getParsedBlock(slot, READ),
    getBlockSignatures: () => connection.getBlockSignatures(slot, 'finalized'),
    getBlockTime: () => connection.getBlockTime(slot),
    getTransaction: () => connection.getTransaction(signature, READ),
    getTransactions: () => connection.getTransactions([signature, signature], READ),
    getParsedTransaction: () => connection.getParsedTransaction(signature, READ),
    getParsedTransactions: () => connection.getParsedTransactions([signature], READ),
    getSignatureStatus: () => connection.getSignatureStatus(signature, { searchTransactionHistory: true }),
    getSignatureStatuses: () => connection.getSignatureStatuses([signature]),
    getSignaturesForAddress: () => connection.getSignaturesForAddress(mint!, { limit: 3 }, 'finalized'),
    getFeeForMessage: () => connection.getFeeForMessage(message),
    getMinimumBalanceForRentExemption: () => connection.getMinimumBalanceForRentExemption(165),
    getStakeMinimumDelegation: () => connection.getStakeMinimumDelegation(),
    getRecentPrioritizationFees: () => connection.getRecentPrioritizationFees(),
    getSlot: () => connection.getSlot(),
    getSlotLeader: () => connection.getSlotLeader(),
    getSlotLeaders: () => connection.getSlotLeaders(slot, 2),
    getBlockHeight: () => connection.getBlockHeight(),
    getTransactionCount: () => connection.getTransactionCount(),
    getLatestBlockhash: () => connection.getLatestBlockhash(),
    isBlockhashValid: () => connection.isBlockhashValid(blockhash),
    getEpochInfo: () => connection.getEpochInfo(),
    getEpochSchedule: () => connection.getEpochSchedule(),
    getFirstAvailableBlock: () => connection.getFirstAvailableBlock(),
    getVersion: () => connection.getVersion(),
    simulateTransaction: () =>
      connection.simulateTransaction(new VersionedTransaction(unsigned.compileToV0Message()), {
        sigVerify: false,
        replaceRecentBlockhash: true
      }),
    'sendRawTransaction of nonsense': () => connection.sendRawTransaction(Buffer.from('nonsense'))
  }
}

/** Every reading method of kit's RPC whose request is served. */
export function kitCalls(url: string, facts: ChainFacts): LibraryCalls {
  const rpc = createSolanaRpc(url)
  const { slot, signature, blockhash } = facts
  const [key, mint, tokens] = [facts.address, facts.mint, facts.tokenAccount].map((each) => address(each))
  const signed = signatureOf(signature)
  const wanted = { encoding: 'json', maxSupportedTransactionVersion: 0 } as const
  const message = Buffer.from(
    new TransactionMessage({
      payerKey: new PublicKey(facts.address),
      recentBlockhash: blockhash,
      instructions: []
    })
      .compileToLegacyMessage()
      .serialize()
  )
  const transaction = Buffer.concat([Buffer.of(1), Buffer.alloc(64), message]).toString('base64')
  return {
    getBalance: () => rpc.getBalance(key!).send(),
    getAccountInfo: () => rpc.getAccountInfo(mint!, { encoding: 'jsonParsed' }).send(),
    getMultipleAccounts: () => rpc.getMultipleAccounts([key!, mint!], { encoding: 'base64' }).send(),
    getTokenAccountBalance: () => rpc.getTokenAccountBalance(tokens!).send(),
    getTokenSupply: () => rpc.getTokenSupply(mint!).send(),
    getTransaction: () => rpc.getTransaction(signed, wanted).send(),
    getSignatureStatuses: () => rpc.getSignatureStatuses([signed], { searchTransactionHistory: true }).send(),
    getSignaturesForAddress: () => rpc.getSignaturesForAddress(mint!, { limit: 3 }).send(),
    getTransactionCount: () => rpc.getTransactionCount().send(),
    getFeeForMessage: () =>
      rpc.getFeeForMessage(message.toString('base64') as TransactionMessageBytesBase64).send(),
    getSlot: () => rpc.getSlot().send(),
    getBlockHeight: () => rpc.getBlockHeight().send(),
    getLatestBlockhash: () => rpc.getLatestBlockhash().send(),
    isBlockhashValid: () => rpc.isBlockhashValid(blockhash as Blockhash).send(),
    getBlock: () => rpc.getBlock(BigInt(slot), wanted).send(),
    getBlockTime: () => rpc.getBlockTime(BigInt(slot)).send(),
    getBlocksWithLimit: () => rpc.getBlocksWithLimit(BigInt(slot), 3).send(),
    getBlockCommitment: () => rpc.getBlockCommitment(BigInt(slot)).send(),
    getFirstAvailableBlock: () => rpc.getFirstAvailableBlock().send(),
    getRecentPrioritizationFees: () => rpc.getRecentPrioritizationFees([mint!]).send(),
    getHealth: () => rpc.getHealth().send(),
    getVersion: () => rpc.getVersion().send(),
    getEpochInfo: () => rpc.getEpochInfo().send(),
    getEpochSchedule: () => rpc.getEpochSchedule().send(),
    getSlotLeader: () => rpc.getSlotLeader().send(),
    getSlotLeaders: () => rpc.getSlotLeaders(BigInt(slot), 2).send(),
    getMinimumBalanceForRentExemption: () => rpc.getMinimumBalanceForRentExemption(165n).send(),
    getStakeMinimumDelegation: () => rpc.getStakeMinimumDelegation().send(),
    simulateTransaction: () =>
      rpc
        .simulateTransaction(transaction as Base64EncodedWireTransaction, {
          encoding: 'base64',
          sigVerify: false,
          replaceRecentBlockhash: true
        })
        .send(),
    'sendTransaction without a signature': () =>
      rpc.sendTransaction(transaction as Base64EncodedWireTransaction, { encoding: 'base64' }).send(),
    'getSlot beyond all slots': () => rpc.getSlot({ minContextSlot: 10n ** 15n }).send()
  }
}

/** Makes a call, and returns its outcome as JSON values: a result, or the error that the library throws. */
export async function outcomeOf(call: () => Promise<unknown>): Promise<object> {
  try {
    return { result: plain((await call()) ?? null) }
  } catch (error) {
    const { name, message, context } = error as Error & { context?: unknown }
    return { thrown: { name, message, context: plain(context ?? null) } }
  }
}

const plain = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? `${each}n` : each)))
