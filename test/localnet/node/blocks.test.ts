import {
  ComputeBudgetProgram,
  type Keypair,
  SystemProgram,
  TransactionMessage,
  VersionedTransaction
} from '@solana/web3.js'
import t, { type Test } from 'tap'
import { readRpcBlock } from '../../../src/chain/rpc/block.ts'
import { readRpcTransaction } from '../../../src/chain/rpc/transaction.ts'
import { encodeBase58 } from '../../../src/chain/base58.ts'
import { pubkeyToBase58 } from '../../../src/chain/pubkey.ts'
import type { LocalBank } from '../../../src/localnet/bank/bank.ts'
import { RenderedBlocks, type BlockForm } from '../../../src/localnet/node/rendered-blocks.ts'
import type { LocalNode } from '../../../src/localnet/node/local-node.ts'
import { blockAt, funded, land, openBank, produce, transfer, wallet } from '../bank/sending.ts'
import { call, result, startNode, textOf, type Json } from './node-client.ts'
import { associatedAccount, createAssociated, createMint, mintTo } from './token-wire.ts'

const FORM: BlockForm = { encoding: 'json', details: 'full', rewards: true, versionMax: 0 }

interface World {
  readonly bank: LocalBank
  readonly node: LocalNode
  readonly payer: Keypair
  /** Slots of a token mint with inner instructions, of a failed transfer, and of a transaction of version 0. */
  readonly slots: { readonly mint: number; readonly failed: number; readonly versioned: number }
}

async function world(t: Test): Promise<World> {
  const bank = await openBank()
  const payer = await funded(bank, 1)
  const mint = wallet(2)
  const account = associatedAccount(payer.publicKey, mint.publicKey)
  const rent = Number(bank.minimumBalance(82))
  await land(
    bank,
    [
      ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 1 }),
      ...createMint(payer, mint, rent, 6),
      createAssociated(payer.publicKey, payer.publicKey, mint.publicKey),
      mintTo(mint.publicKey, account, payer.publicKey, 5n)
    ],
    [payer, mint]
  )
  const minted = bank.slot('processed')
  await land(bank, [transfer(payer, wallet(3).publicKey, 10n ** 15n)], [payer], { skipPreflight: true })
  const failed = bank.slot('processed')
  const message = new TransactionMessage({
    payerKey: payer.publicKey,
    recentBlockhash: encodeBase58(bank.latestBlockhash('processed').blockhash),
    instructions: [transfer(payer, wallet(3).publicKey, 10n ** 8n)]
  }).compileToV0Message()
  const versioned = new VersionedTransaction(message)
  versioned.sign([payer])
  bank.send(versioned.serialize(), { skipPreflight: false })
  await bank.produceSlot()
  const slots = { mint: minted, failed, versioned: bank.slot('processed') }
  await produce(bank, 2)
  return { bank, node: await startNode(t, bank), payer, slots }
}

const confirmed = (more: object = {}): object => ({
  commitment: 'confirmed',
  maxSupportedTransactionVersion: 0,
  ...more
})

t.test('a block is written as a node writes it', async (t) => {
  const { bank, node, slots } = await world(t)
  const block = blockAt(bank, slots.versioned)
  t.same(await result(node, 'getBlock', [slots.versioned, confirmed()]), {
    previousBlockhash: encodeBase58(block.previousBlockhash),
    blockhash: encodeBase58(block.blockhash),
    parentSlot: slots.versioned - 1,
    transactions: [
      {
        transaction: {
          signatures: [encodeBase58(block.transactions[0]!.signature)],
          message: {
            header: {
              numRequiredSignatures: 1,
              numReadonlySignedAccounts: 0,
              numReadonlyUnsignedAccounts: 1
            },
            accountKeys: [wallet(1), wallet(3)]
              .map(({ publicKey }) => publicKey.toBase58())
              .concat(SystemProgram.programId.toBase58()),
            recentBlockhash: encodeBase58(block.previousBlockhash),
            instructions: [{ programIdIndex: 2, accounts: [0, 1], data: '3Bxs411Dtc7pkFQj', stackHeight: 1 }],
            addressTableLookups: []
          }
        },
        meta: {
          err: null,
          status: { Ok: null },
          fee: 5000,
          preBalances: block.transactions[0]!.meta.preBalances.map(Number),
          postBalances: block.transactions[0]!.meta.postBalances.map(Number),
          innerInstructions: [],
          logMessages: [
            'Program 11111111111111111111111111111111 invoke [1]',
            'Program 11111111111111111111111111111111 success'
          ],
          preTokenBalances: [],
          postTokenBalances: [],
          rewards: [],
          loadedAddresses: { writable: [], readonly: [] },
          computeUnitsConsumed: 150
        },
        version: 0
      }
    ],
    rewards: [],
    blockTime: block.blockTime,
    blockHeight: block.blockHeight
  })
})

t.test('details and rewards leave out what they say', async (t) => {
  const { node, slots } = await world(t)
  const ask = async (more: object): Promise<Json> => result(node, 'getBlock', [slots.failed, confirmed(more)])
  const head = ['previousBlockhash', 'blockhash', 'parentSlot', 'blockTime', 'blockHeight']
  t.same(Object.keys(await ask({ transactionDetails: 'none', rewards: false })).sort(), head.sort())
  t.match(await ask({ transactionDetails: 'signatures' }), { signatures: [String], rewards: [] })
  const accounts = (await ask({ transactionDetails: 'accounts' })) as unknown as { transactions: Json[] }
  t.match(accounts.transactions, [
    {
      version: 'legacy',
      transaction: {
        signatures: [String],
        accountKeys: [
          { pubkey: wallet(1).publicKey.toBase58(), signer: true, source: 'transaction', writable: true },
          { pubkey: wallet(3).publicKey.toBase58(), signer: false, source: 'transaction', writable: true },
          {
            pubkey: SystemProgram.programId.toBase58(),
            signer: false,
            source: 'transaction',
            writable: false
          }
        ]
      },
      meta: { err: { InstructionError: [0, { Custom: 1 }] }, status: { Err: {} }, fee: 5000 }
    }
  ])
  t.notOk('logMessages' in accounts.transactions[0]!.meta!)
})

t.test('every encoding gives our own reader the same transactions', async (t) => {
  const { bank, node, slots } = await world(t)
  const summary = (value: unknown): unknown => {
    const outcome = readRpcBlock(value, slots.mint)
    if (outcome.kind !== 'block') throw new Error(outcome.kind)
    t.same(outcome.block.unreadable, [])
    return outcome.block.transactions.map(
      ({ signature, keys, instructions, feeLamports, postTokenBalances, failed }) => ({
        signature: encodeBase58(signature),
        keys: Array.from({ length: keys.length }, (_, i) => pubkeyToBase58(keys.bytes(i))),
        instructions: instructions.map(({ program, accounts, data, height }) => ({
          program,
          accounts: [...Array.from(accounts)],
          data: Buffer.from(data).toString('hex'),
          height
        })),
        balances: postTokenBalances.map(({ amount, decimals }) => ({ amount, decimals })),
        feeLamports,
        failed
      })
    )
  }
  const blocks: Json[] = []
  for (const encoding of ['json', 'base64', 'base58', 'jsonParsed']) {
    blocks.push(await result(node, 'getBlock', [slots.mint, confirmed({ encoding })]))
  }
  const [first, ...others] = blocks.map(summary)
  t.match(first, [{ balances: [{ amount: 5n, decimals: 6 }], failed: false }])
  const { instructions } = (first as { instructions: { height: number }[] }[])[0]!
  t.ok(
    instructions.some(({ height }) => height === 2),
    'there are inner instructions'
  )
  for (const other of others) t.same(other, first)
  const [executed] = blockAt(bank, slots.mint).transactions
  t.equal(
    instructions.length,
    5 + executed!.meta.inner.reduce((sum, group) => sum + group.instructions.length, 0)
  )
})

t.test('a client gets no version that it does not read', async (t) => {
  const { node, slots } = await world(t)
  const unsupported = {
    code: -32015,
    message:
      'Transaction version (0) is not supported by the requesting client. Please try the request again with the ' +
      'following configuration parameter: "maxSupportedTransactionVersion": 0'
  }
  const commitment = 'confirmed'
  for (const transactionDetails of ['full', 'accounts']) {
    const answer = await call(node, 'getBlock', [slots.versioned, { commitment, transactionDetails }])
    t.same(answer.error, unsupported)
  }
  t.match(
    await result(node, 'getBlock', [slots.versioned, { commitment, transactionDetails: 'signatures' }]),
    {
      signatures: [String]
    }
  )
  const legacy = (await result(node, 'getBlock', [slots.failed, { commitment }])) as unknown as {
    transactions: object[]
  }
  t.equal(legacy.transactions.length, 1)
  t.notOk('version' in legacy.transactions[0]!, 'who knows of no versions is told none')
  t.match(await result(node, 'getBlock', [slots.failed, confirmed()]), {
    transactions: [{ version: 'legacy' }]
  })
})

t.test('slots without a block have different errors by the reason', async (t) => {
  const bank = await openBank({ retainedSlots: 512 })
  await produce(bank, 5)
  bank.faults.skip(1)
  await produce(bank, 3)
  t.equal(bank.faults.fired.skips, 1)
  const skipped = 6
  const node = await startNode(t, bank)
  const error = async (method: string, slot: number, ...more: unknown[]): Promise<unknown> =>
    (await call(node, method, [slot, ...more])).error
  const notAvailable = (slot: number): object => ({
    code: -32004,
    message: `Block not available for slot ${slot}`
  })
  t.same(await error('getBlock', 1_000, confirmed()), notAvailable(1_000))
  t.same(await error('getBlock', 8, confirmed()), notAvailable(8), 'processed only')
  t.same(await error('getBlock', 5), notAvailable(5), 'confirmed, and asked for as finalized')
  t.same(await error('getBlock', skipped, confirmed()), notAvailable(skipped), 'a block of it may still come')
  t.match(await error('getBlock', 5, { commitment: 'processed' }), {
    code: -32602,
    message: 'Method does not support commitment below `confirmed`'
  })
  await produce(bank, 40)
  const wasSkipped = {
    code: -32007,
    message: `Slot ${skipped} was skipped, or missing due to ledger jump to recent snapshot`
  }
  t.same(await error('getBlock', skipped, confirmed()), wasSkipped)
  t.same(await error('getBlockTime', skipped), wasSkipped)
  t.same(await result(node, 'getBlocks', [4, 8]), [4, 5, 7, 8])
  await produce(bank, 512)
  const first = bank.firstSlot
  t.ok(first > 1)
  const cleaned = {
    code: -32001,
    message: `Block 1 cleaned up, does not exist on node. First available block: ${first}`
  }
  t.same(await error('getBlock', 1, confirmed()), cleaned)
  t.same(await error('getBlockTime', 1), cleaned)
  t.equal(await result(node, 'getFirstAvailableBlock'), first)
  t.equal(await result(node, 'minimumLedgerSlot'), first)
})

t.test('parameters of getBlock are refused in the words of a node', async (t) => {
  const node = await startNode(t, await openBank())
  const enumError =
    'Invalid params: data did not match any variant of untagged enum RpcEncodingConfigWrapper.'
  const cases: [unknown[], string][] = [
    [[], '`params` should have at least 1 argument(s)'],
    [['1'], 'Invalid params: invalid type: string "1", expected u64.'],
    [[-1], 'Invalid params: invalid value: integer `-1`, expected u64.'],
    [[1.5], 'Invalid params: invalid type: floating point `1.5`, expected u64.'],
    [[0, { encoding: 'foo' }], enumError],
    [[0, { transactionDetails: 'foo' }], enumError],
    [[0, { maxSupportedTransactionVersion: 256 }], enumError],
    [[0, { rewards: 'x' }], enumError],
    [[0, 'foo'], enumError]
  ]
  for (const [params, message] of cases) {
    t.same((await call(node, 'getBlock', params)).error, { code: -32602, message })
  }
  t.match(
    await result(node, 'getBlock', [0, 'base64']),
    { transactions: [] },
    'older clients give the encoding alone'
  )
})

t.test('lists of blocks end where the commitment ends, and have their limits', async (t) => {
  const bank = await openBank()
  await produce(bank, 40)
  const node = await startNode(t, bank)
  const range = (first: number, last: number): number[] =>
    Array.from({ length: last - first + 1 }, (_, i) => first + i)
  t.same(await result(node, 'getBlocks', [0]), range(0, 8))
  t.same(await result(node, 'getBlocks', [0, 3]), range(0, 3))
  t.same(await result(node, 'getBlocks', [30, { commitment: 'confirmed' }]), range(30, 39))
  t.same(await result(node, 'getBlocks', [38, 500, { commitment: 'confirmed' }]), range(38, 39))
  t.same(await result(node, 'getBlocks', [5, 2]), [])
  t.same(await result(node, 'getBlocksWithLimit', [2, 3]), range(2, 4))
  t.same(await result(node, 'getBlocksWithLimit', [2, 0]), [])
  t.same(await result(node, 'getBlocksWithLimit', [38, 100, { commitment: 'confirmed' }]), range(38, 39))
  t.match((await call(node, 'getBlocksWithLimit', [0, 500_001])).error, {
    message: 'Limit too large; max 500000'
  })
  for (const [name, params] of [
    ['getBlocks', [0, 3, { commitment: 'processed' }]],
    ['getBlocksWithLimit', [0, 3, { commitment: 'processed' }]]
  ] as const) {
    t.match((await call(node, name, params)).error, {
      code: -32602,
      message: 'Method does not support commitment below `confirmed`'
    })
  }
  t.match((await call(node, 'getBlocks', [0, 1, { minContextSlot: 100 }])).error, { code: -32016 })
  t.equal(await result(node, 'getBlockTime', [40]), blockAt(bank, 40).blockTime)
  t.match((await call(node, 'getBlockTime', [41])).error, { code: -32004 })
  const { commitment, totalStake } = await result(node, 'getBlockCommitment', [38])
  const votes = commitment as unknown as number[]
  t.equal(votes.length, 32)
  t.equal(votes[2], totalStake)
  t.match(await result(node, 'getBlockCommitment', [1_000]), { commitment: null })
})

t.test('getTransaction gives what the block has, with its place', async (t) => {
  const { bank, node, slots } = await world(t)
  const [executed] = blockAt(bank, slots.versioned).transactions
  const signature = encodeBase58(executed!.signature)
  const block = await result(node, 'getBlock', [slots.versioned, confirmed()])
  const found = await result(node, 'getTransaction', [signature, confirmed()])
  t.same(found, {
    ...block.transactions![0],
    slot: slots.versioned,
    blockTime: block.blockTime,
    transactionIndex: 0
  })
  t.match(readRpcTransaction(found), {
    kind: 'transaction',
    slot: slots.versioned,
    transaction: { index: 0 }
  })
  t.equal(await result(node, 'getTransaction', [signature, 'json']), null, 'not final yet')
  t.match((await call(node, 'getTransaction', [signature, { commitment: 'confirmed' }])).error, {
    code: -32015
  })
  t.equal(await result(node, 'getTransaction', ['1'.repeat(64)]), null)
  t.match((await call(node, 'getTransaction', ['x'])).error, {
    code: -32602,
    message: 'Invalid param: WrongSize'
  })
})

t.test('parsed instructions name what they do, and others stay as they are', async (t) => {
  const { node, slots } = await world(t)
  const block = await result(node, 'getBlock', [slots.mint, confirmed({ encoding: 'jsonParsed' })])
  const { transaction, meta } = block.transactions![0]!
  const types = (list: Json[]): string[] =>
    list.map(({ program, parsed }) => [program, parsed?.type].map(textOf).join(' '))
  t.same(types(transaction!.message!.instructions as unknown as Json[]), [
    '- -',
    'system createAccount',
    'spl-token initializeMint2',
    'spl-associated-token-account createIdempotent',
    'spl-token mintTo'
  ])
  const [inner] = meta!.innerInstructions as unknown as [{ index: number; instructions: Json[] }]
  t.equal(inner.index, 3)
  t.same(types(inner.instructions), [
    'spl-token getAccountDataSize',
    'system createAccount',
    'spl-token initializeImmutableOwner',
    'spl-token initializeAccount3'
  ])
  t.match(transaction!.message!.instructions![0], {
    programId: ComputeBudgetProgram.programId.toBase58(),
    accounts: [],
    data: String,
    stackHeight: 1
  })
  t.notOk('loadedAddresses' in meta!)
})

t.test('a block that is requested twice in a form is cached in it, and the cache is bounded', async (t) => {
  const { bank, slots } = await world(t)
  const block = blockAt(bank, slots.mint)
  const blocks = new RenderedBlocks()
  t.equal(blocks.find(slots.mint, FORM), null)
  blocks.render(block, FORM)
  t.equal(blocks.find(slots.mint, FORM), null, 'a single follower reads a block once')
  t.equal(blocks.characters, 0)
  const rendered = blocks.render(block, FORM)
  t.equal(blocks.find(slots.mint, FORM), rendered)
  t.equal(blocks.find(slots.mint, { ...FORM, versionMax: 7 }), rendered, 'all versions are rendered')
  t.equal(blocks.find(slots.mint, { ...FORM, encoding: 'base64' }), null)
  t.equal(blocks.find(slots.mint, { ...FORM, rewards: false }), null)
  t.equal(blocks.characters, rendered.text.length)

  const few = new RenderedBlocks(rendered.text.length * 2)
  const renderTwice = (slot: number): void => {
    for (let i = 0; i < 2; i++) few.render({ ...block, slot }, FORM)
  }
  renderTwice(slots.mint)
  renderTwice(1_000)
  t.ok(few.find(slots.mint, FORM), 'asked for again')
  renderTwice(1_001)
  t.equal(few.find(1_000, FORM), null, 'asked for longest ago')
  t.ok(few.find(slots.mint, FORM))
  t.ok(few.characters <= rendered.text.length * 2)
})
