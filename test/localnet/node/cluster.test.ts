import { ComputeBudgetProgram } from '@solana/web3.js'
import t from 'tap'
import { encodeBase58 } from '../../../src/chain/base58.ts'
import { METHODS } from '../../../src/localnet/node/local-node.ts'
import { funded, land, openBank, produce, transfer, wallet } from '../bank/sending.ts'
import { call, result, startNode } from './node-client.ts'

/** The service's own list of methods (src/docs/rpc.md), and further methods that web3.js calls. */
const LISTED =
  `getBalance getAccountInfo getMultipleAccounts getTokenAccountBalance getTokenSupply getProgramAccounts
  sendTransaction simulateTransaction getTransaction getSignatureStatuses getSignaturesForAddress getTransactionCount
  getFeeForMessage getSlot getBlockHeight getLatestBlockhash isBlockhashValid getBlock getBlockTime getBlocksWithLimit
  getBlockCommitment getFirstAvailableBlock getRecentPrioritizationFees getHealth getVersion getEpochInfo
  getEpochSchedule getGenesisHash getSlotLeader getSlotLeaders getMinimumBalanceForRentExemption
  getStakeMinimumDelegation requestAirdrop getTokenAccountsByOwner getBlocks getIdentity`.split(/\s+/)

t.test('every method that the service lists is there', async (t) => {
  t.same(
    LISTED.filter((name) => !METHODS.has(name)),
    []
  )
})

t.test('a node says who it is and which chain it has', async (t) => {
  const bank = await openBank()
  const node = await startNode(t, bank)
  t.equal(await result(node, 'getHealth'), 'ok')
  t.same(await result(node, 'getVersion'), { 'solana-core': '4.2.1', 'feature-set': 565236538 })
  t.equal(await result(node, 'getGenesisHash'), encodeBase58(bank.genesisHash))
  const { identity } = await result(node, 'getIdentity')
  t.same(await result(node, 'getSlotLeader'), identity)
  t.same(await result(node, 'getSlotLeaders', [0, 3]), [identity, identity, identity])
  t.match(await result(node, 'getClusterNodes'), [{ pubkey: identity }])
  t.match((await call(node, 'getHighestSnapshotSlot')).error, { code: -32008, message: 'No snapshot' })
  t.match((await call(node, 'getHealth', [{}])).error, {
    code: -32602,
    message: 'Invalid parameters: No parameters were expected',
    data: 'Array([Object {}])'
  })
})

t.test('slots, heights and blockhashes are those of the commitment', async (t) => {
  const bank = await openBank()
  await produce(bank, 20)
  bank.faults.skip(2)
  await produce(bank, 22)
  const node = await startNode(t, bank)
  const at = async (name: string, commitment?: string): Promise<unknown> =>
    result(node, name, commitment === undefined ? [] : [{ commitment }])
  t.same(
    await Promise.all(['processed', 'confirmed', 'finalized', undefined].map((each) => at('getSlot', each))),
    [42, 41, 8, 8]
  )
  t.same(
    await Promise.all(['processed', 'confirmed', 'finalized'].map((each) => at('getBlockHeight', each))),
    [40, 39, 8]
  )
  const { blockhash, lastValidBlockHeight } = bank.latestBlockhash('processed')
  const text = encodeBase58(blockhash)
  t.same(await at('getLatestBlockhash', 'processed'), {
    context: { apiVersion: '4.2.1', slot: 42 },
    value: { blockhash: text, lastValidBlockHeight }
  })
  t.equal(lastValidBlockHeight, 190)
  t.match(await result(node, 'isBlockhashValid', [text, { commitment: 'processed' }]), { value: true })
  t.match(await result(node, 'isBlockhashValid', [text]), { value: false })
  t.match(await result(node, 'isBlockhashValid', [wallet(1).publicKey.toBase58()]), { value: false })
  t.match((await call(node, 'isBlockhashValid', ['x'])).error, { code: -32602, message: 'WrongSize' })
  for (const name of [
    'getSlot',
    'getBlockHeight',
    'getLatestBlockhash',
    'getEpochInfo',
    'getTransactionCount'
  ]) {
    t.match(
      (await call(node, name, [{ minContextSlot: 100 }])).error,
      { code: -32016, data: { contextSlot: 8 } },
      name
    )
    t.match((await call(node, name, [1])).error, {
      code: -32602,
      message: 'Invalid params: invalid type: integer `1`, expected struct RpcContextConfig.'
    })
  }
})

t.test('epochs and transactions are counted, also those before the node began', async (t) => {
  const bank = await openBank()
  const payer = await funded(bank, 1)
  await produce(bank, 40)
  const node = await startNode(t, bank)
  t.same(await result(node, 'getEpochInfo', [{ commitment: 'processed' }]), {
    epoch: 0,
    slotIndex: 41,
    slotsInEpoch: 432000,
    absoluteSlot: 41,
    blockHeight: 41,
    transactionCount: 1
  })
  t.match(await result(node, 'getEpochSchedule'), {
    slotsPerEpoch: 432000,
    firstNormalEpoch: 0,
    warmup: false
  })
  await land(bank, [transfer(payer, wallet(2).publicKey, 10n ** 9n)], [payer])
  const count = async (): Promise<unknown[]> =>
    Promise.all(
      ['processed', 'confirmed', 'finalized'].map((commitment) =>
        result(node, 'getTransactionCount', [{ commitment }])
      )
    )
  t.same(await count(), [2, 1, 1])
  await produce(bank, 1)
  t.same(await count(), [2, 2, 1])
  await produce(bank, 32)
  t.same(await count(), [2, 2, 2])
})

t.test('leaders are known up to the next epoch, 5000 at a time', async (t) => {
  const node = await startNode(t, await openBank())
  t.same(await result(node, 'getSlotLeaders', [0, 0]), [])
  t.match((await call(node, 'getSlotLeaders', [0, 5001])).error, {
    code: -32602,
    message: 'Invalid limit; max 5000'
  })
  t.match((await call(node, 'getSlotLeaders', [1e9, 10])).error, {
    code: -32602,
    message: 'Invalid slot range: leader schedule for epoch 2314 is unavailable'
  })
  t.match((await call(node, 'getSlotLeaders', [0])).error, {
    message: 'Invalid params: invalid length 1, expected a tuple of size 2.'
  })
})

t.test('recent fees are the least that got in, and the most of what the accounts took', async (t) => {
  const bank = await openBank()
  const payer = await funded(bank, 1)
  const other = await funded(bank, 2)
  const node = await startNode(t, bank)
  const price = (microLamports: number) => ComputeBudgetProgram.setComputeUnitPrice({ microLamports })
  await land(bank, [price(700), transfer(payer, wallet(3).publicKey, 10n ** 9n)], [payer])
  await land(bank, [transfer(other, wallet(4).publicKey, 10n ** 9n)], [other])
  await produce(bank, 1)
  const fees = async (keys?: string[]): Promise<unknown> =>
    result(node, 'getRecentPrioritizationFees', keys === undefined ? undefined : [keys])
  const slots = [0, 1, 2]
  t.same(
    await fees(),
    [...slots, 3, 4].map((slot) => ({ slot, prioritizationFee: slot === 3 ? 700 : 0 }))
  )
  t.same(
    await fees([other.publicKey.toBase58()]),
    [...slots, 3, 4].map((slot) => ({ slot, prioritizationFee: slot === 3 ? 700 : 0 }))
  )
  await produce(bank, 200)
  t.equal(((await fees()) as unknown[]).length, 150)
  const key = payer.publicKey.toBase58()
  t.match((await call(node, 'getRecentPrioritizationFees', [Array(129).fill(key)])).error, {
    message: 'Too many inputs provided; max 128'
  })
  t.match((await call(node, 'getRecentPrioritizationFees', [['x']])).error, {
    message: 'Invalid param: WrongSize'
  })
})
