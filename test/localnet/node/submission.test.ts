import {
  PublicKey,
  SystemProgram,
  Transaction,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
  type Keypair
} from '@solana/web3.js'
import t, { type Test } from 'tap'
import { encodeBase58 } from '../../../src/chain/base58.ts'
import { VENUES } from '../../../src/chain/venues.ts'
import type { LocalBank } from '../../../src/localnet/bank/bank.ts'
import type { LocalNode } from '../../../src/localnet/node/local-node.ts'
import { funded, lamportsOf, land, openBank, produce, signed, transfer, wallet } from '../bank/sending.ts'
import { call, result, startNode, textOf, type Json } from './node-client.ts'

const SIGNATURE = /^[1-9A-HJ-NP-Za-km-z]{86,88}$/
const TRANSACTION = 'solana_transaction::versioned::VersionedTransaction'

interface World {
  readonly bank: LocalBank
  readonly node: LocalNode
  readonly payer: Keypair
  readonly send: (wire: Uint8Array, config?: object) => ReturnType<typeof call>
  readonly simulate: (wire: Uint8Array, config?: object) => Promise<Json>
}

async function world(t: Test, waitingMax = 1_000): Promise<World> {
  const bank = await openBank({ waitingMax })
  const payer = await funded(bank, 1)
  const node = await startNode(t, bank)
  const text = (wire: Uint8Array): string => Buffer.from(wire).toString('base64')
  return {
    bank,
    node,
    payer,
    send: (wire, config) => call(node, 'sendTransaction', [text(wire), { encoding: 'base64', ...config }]),
    simulate: async (wire, config) =>
      (await result(node, 'simulateTransaction', [text(wire), { encoding: 'base64', ...config }])).value!
  }
}

t.test('a transaction is taken in base64 or base58, answered with its signature, and lands', async (t) => {
  const { bank, node, payer, send } = await world(t)
  const to = wallet(2).publicKey
  const first = signed(bank, [transfer(payer, to, 10n ** 9n)], [payer])
  t.same((await send(first)).result, encodeBase58(first.subarray(1, 65)))
  const second = signed(bank, [transfer(payer, to, 10n ** 8n)], [payer])
  t.same(await result(node, 'sendTransaction', [encodeBase58(second)]), encodeBase58(second.subarray(1, 65)))
  const third = signed(bank, [transfer(payer, to, 10n ** 7n)], [payer])
  const withMore = Buffer.concat([third, Buffer.from([1, 2, 3])])
  t.match((await send(withMore)).result, SIGNATURE, 'what comes after a transaction is left aside')
  await produce(bank, 1)
  t.equal(lamportsOf(bank, to), 1_110_000_000n)
})

t.test('a failed preflight says why, with the logs', async (t) => {
  const { bank, payer, send } = await world(t)
  const { error } = await send(signed(bank, [transfer(payer, wallet(2).publicKey, 10n ** 15n)], [payer]))
  t.match(error, {
    code: -32002,
    message: 'Transaction simulation failed: Error processing Instruction 0: custom program error: 0x1',
    data: {
      err: { InstructionError: [0, { Custom: 1 }] },
      logs: [/invoke \[1\]/, /insufficient lamports/, /failed: custom program error: 0x1/],
      unitsConsumed: 150,
      accounts: null,
      returnData: null,
      innerInstructions: null,
      replacementBlockhash: null
    }
  })
})

t.test('a call of a DEX program is refused with the reason: a localnet simulates its market', async (t) => {
  const { bank, payer, send, simulate } = await world(t)
  const says = (venue: string): RegExp =>
    new RegExp(`This is a localnet, without the program of ${venue}\\. .*DEX programs cannot be called`)
  for (const { id, programs } of VENUES) {
    const programId = new PublicKey(programs[0]!)
    const keys = [{ pubkey: payer.publicKey, isSigner: true, isWritable: true }]
    const wire = signed(bank, [new TransactionInstruction({ programId, keys, data: Buffer.of(1) })], [payer])
    const { error } = await send(wire)
    t.match(error, { code: -32002, message: says(id), data: { err: 'ProgramAccountNotFound' } }, id)
    t.match(error!.data, { logs: [says(id)] })
    t.match(await simulate(wire), { err: 'ProgramAccountNotFound', logs: [says(id)] }, id)
  }
  const failed = await send(signed(bank, [transfer(payer, wallet(2).publicKey, 10n ** 15n)], [payer]))
  t.notMatch(JSON.stringify(failed), 'localnet', 'other failures are in the words of a node')
})

t.test('preflight refuses what cannot land, in the words of a node', async (t) => {
  const { bank, payer, send } = await world(t)
  const to = wallet(2).publicKey
  const reason = async (wire: Uint8Array): Promise<unknown> => {
    const { error } = await send(wire)
    t.equal(error?.code, -32002)
    return [error?.message, error?.data?.err]
  }
  t.same(await reason(signed(bank, [transfer(payer, to, 5n)], [payer], new Uint8Array(32).fill(7))), [
    'Transaction simulation failed: Blockhash not found',
    'BlockhashNotFound'
  ])
  t.same(await reason(signed(bank, [transfer(wallet(9), to, 5n)], [wallet(9)])), [
    'Transaction simulation failed: Attempt to debit an account but found no record of a prior credit.',
    'AccountNotFound'
  ])
  t.same(await reason(signed(bank, [transfer(payer, to, 5n)], [payer])), [
    'Transaction simulation failed: Transaction results in an account (1) with insufficient funds for rent',
    { InsufficientFundsForRent: { account_index: 1 } }
  ])
  const forged = signed(bank, [transfer(payer, to, 10n ** 9n)], [payer])
  forged[5]! ^= 1
  t.same(await reason(forged), [
    'Transaction simulation failed: Transaction did not pass signature verification',
    'SignatureFailure'
  ])
  const landed = signed(bank, [transfer(payer, to, 10n ** 9n)], [payer])
  await send(landed)
  await produce(bank, 1)
  t.same(await reason(landed), [
    'Transaction simulation failed: This transaction has already been processed',
    'AlreadyProcessed'
  ])
})

t.test('without preflight what cannot land is passed on, and nothing comes of it', async (t) => {
  const { bank, payer, send } = await world(t)
  const to = wallet(2).publicKey
  const skipPreflight = true
  const forged = signed(bank, [transfer(payer, to, 10n ** 9n)], [payer])
  forged[5]! ^= 1
  const expired = signed(bank, [transfer(payer, to, 10n ** 9n)], [payer], new Uint8Array(32).fill(7))
  for (const wire of [forged, expired]) {
    t.same((await send(wire, { skipPreflight })).result, encodeBase58(wire.subarray(1, 65)))
  }
  const failing = signed(bank, [transfer(payer, to, 10n ** 15n)], [payer])
  t.match((await send(failing, { skipPreflight })).result, SIGNATURE)
  await produce(bank, 1)
  t.equal(lamportsOf(bank, to), 0n)
  t.match(bank.transaction(failing.subarray(1, 65)), {
    transaction: { meta: { err: { InstructionError: [0, { Custom: 1 }] } } }
  })
  t.equal(bank.transaction(expired.subarray(1, 65)), null)
})

t.test('where as many wait as may, one more is refused, or dropped without preflight', async (t) => {
  const { bank, payer, send } = await world(t, 1)
  const to = wallet(2).publicKey
  t.match(await send(signed(bank, [transfer(payer, to, 10n ** 9n)], [payer])), { result: SIGNATURE })
  const more = signed(bank, [transfer(payer, to, 10n ** 8n)], [payer])
  t.match((await send(more)).error, {
    code: -32603,
    message: 'Node is busy: 1 transactions wait for a block'
  })
  t.match(await send(more, { skipPreflight: true }), { result: SIGNATURE })
  await produce(bank, 1)
  t.equal(lamportsOf(bank, to), 10n ** 9n)
})

t.test('bytes that are no transaction are refused before anything is done with them', async (t) => {
  const { bank, node, payer } = await world(t)
  const wire = signed(bank, [transfer(payer, wallet(2).publicKey, 10n ** 9n)], [payer])
  const unsound = Buffer.from(wire)
  unsound[65] = 9
  const base64 = (bytes: Uint8Array): [string, object] => [
    Buffer.from(bytes).toString('base64'),
    { encoding: 'base64' }
  ]
  const cases: [unknown[], string | RegExp][] = [
    [[1], 'Invalid params: invalid type: integer `1`, expected a string.'],
    [base64(wire.subarray(0, 100)), new RegExp(`^failed to deserialize ${TRANSACTION}: `)],
    [base64(Uint8Array.of(0, 0, 0)), /^(failed to deserialize|invalid transaction)/],
    [base64(unsound), 'invalid transaction: Transaction failed to sanitize accounts offsets correctly'],
    [['!!!!', { encoding: 'base64' }], 'invalid base64 encoding: InvalidByte(0, 33)'],
    [['AAA', { encoding: 'base64' }], 'invalid base64 encoding: InvalidLength(3)'],
    [['0OIl'], "invalid base58 encoding: InvalidCharacter { character: '0', index: 0 }"],
    [
      base64(new Uint8Array(1240)),
      `base64 encoded ${TRANSACTION} too large: 1656 bytes (max: encoded/raw 1644/1232)`
    ],
    [base64(new Uint8Array(1233)), `decoded ${TRANSACTION} too large: 1233 bytes (max: 1232 bytes)`],
    [['1'.repeat(1684)], `base58 encoded ${TRANSACTION} too large: 1684 bytes (max: encoded/raw 1683/1232)`],
    [['AAAA', { encoding: 'json' }], 'unsupported encoding: json. Supported encodings: base58, base64'],
    [
      ['AAAA', { encoding: 'base64', preflightCommitment: 'x' }],
      'Invalid params: unknown variant `x`, expected one of `processed`, `confirmed`, `finalized`.'
    ]
  ]
  for (const name of ['sendTransaction', 'simulateTransaction']) {
    for (const [params, message] of cases) {
      if (name === 'simulateTransaction' && String(message).includes('variant')) continue
      t.match((await call(node, name, params)).error, { code: -32602, message }, `${name} ${String(message)}`)
    }
    t.same((await call(node, name, [base64(wire)[0], { encoding: 'base64', minContextSlot: 1000 }])).error, {
      code: -32016,
      message: 'Minimum context slot has not been reached',
      data: { contextSlot: 0 }
    })
  }
})

t.test('a simulation says what would be, and changes nothing', async (t) => {
  const { bank, payer, simulate } = await world(t)
  const to = wallet(2).publicKey
  const wire = signed(bank, [transfer(payer, to, 10n ** 9n)], [payer])
  const addresses = [payer.publicKey, to, wallet(77).publicKey].map((key) => key.toBase58())
  const value = await simulate(wire, { accounts: { addresses, encoding: 'base64' }, innerInstructions: true })
  t.match(value, {
    err: null,
    logs: [/invoke/, /success/],
    unitsConsumed: 150,
    innerInstructions: [],
    replacementBlockhash: null,
    accounts: [{ lamports: 8_999_995_000 }, { lamports: 1_000_000_000 }, null]
  })
  t.equal(lamportsOf(bank, to), 0n)
  const failing = signed(bank, [transfer(payer, to, 10n ** 15n)], [payer])
  t.match(await simulate(failing, { accounts: { addresses, encoding: 'base64' } }), {
    err: { InstructionError: [0, { Custom: 1 }] },
    accounts: [null, null, null]
  })
})

t.test(
  'a simulation checks the blockhash or replaces it, and the signature where it is asked to',
  async (t) => {
    const { bank, node, payer, simulate } = await world(t)
    const to = wallet(2).publicKey
    const old = signed(bank, [transfer(payer, to, 10n ** 9n)], [payer], new Uint8Array(32).fill(7))
    t.match(await simulate(old), { err: 'BlockhashNotFound', logs: [], unitsConsumed: 0 })
    t.match(await simulate(old, { replaceRecentBlockhash: true }), {
      err: null,
      replacementBlockhash: {
        blockhash: encodeBase58(bank.latestBlockhash('processed').blockhash),
        lastValidBlockHeight: Number
      }
    })
    const forged = signed(bank, [transfer(payer, to, 10n ** 9n)], [payer])
    forged[5]! ^= 1
    t.match(await simulate(forged), { err: null })
    t.match(await simulate(forged, { sigVerify: true }), { err: 'SignatureFailure', logs: [] })
    const text = Buffer.from(old).toString('base64')
    const refused = async (config: object): Promise<unknown> =>
      (await call(node, 'simulateTransaction', [text, { encoding: 'base64', ...config }])).error?.message
    t.equal(
      await refused({ sigVerify: true, replaceRecentBlockhash: true }),
      'sigVerify may not be used with replaceRecentBlockhash'
    )
    const key = payer.publicKey.toBase58()
    t.equal(
      await refused({ accounts: { addresses: [key], encoding: 'base58' } }),
      'base58 encoding not supported'
    )
    t.equal(
      await refused({ accounts: { addresses: Array(5).fill(key) } }),
      'Too many accounts provided; max 3'
    )
    t.equal(await refused({ accounts: { addresses: ['x'] } }), 'Invalid param: WrongSize')
  }
)

t.test('an airdrop is answered with the signature of the transfer that brings it', async (t) => {
  const { bank, node } = await world(t)
  const key = wallet(2).publicKey
  const signature = await result(node, 'requestAirdrop', [key.toBase58(), 2_000_000_000])
  t.match(signature, SIGNATURE)
  await produce(bank, 1)
  t.equal(lamportsOf(bank, key), 2_000_000_000n)
  const cases: [unknown[], string][] = [
    [[key.toBase58()], '`params` should have at least 2 argument(s)'],
    [['x', 1], 'Invalid param: WrongSize'],
    [[key.toBase58(), 'x'], 'Invalid params: invalid type: string "x", expected u64.'],
    [[key.toBase58(), -1], 'Invalid params: invalid value: integer `-1`, expected u64.'],
    [[key.toBase58(), 1.5], 'Invalid params: invalid type: floating point `1.5`, expected u64.']
  ]
  for (const [params, message] of cases) {
    t.same((await call(node, 'requestAirdrop', params)).error, { code: -32602, message })
  }
})

t.test('the fee of a message is told while its blockhash holds', async (t) => {
  const { bank, node, payer } = await world(t)
  const blockhash = encodeBase58(bank.latestBlockhash('processed').blockhash)
  const instructions = [transfer(payer, wallet(2).publicKey, 1n)]
  const legacy = new Transaction({ feePayer: payer.publicKey, recentBlockhash: blockhash }).add(
    ...instructions
  )
  const versioned = new TransactionMessage({
    payerKey: payer.publicKey,
    recentBlockhash: blockhash,
    instructions
  })
  const fee = async (message: Uint8Array, commitment = 'processed'): Promise<unknown> =>
    (await result(node, 'getFeeForMessage', [Buffer.from(message).toString('base64'), { commitment }])).value
  t.equal(await fee(legacy.compileMessage().serialize()), 5_000)
  t.equal(await fee(versioned.compileToV0Message().serialize()), 5_000)
  t.equal(await fee(legacy.compileMessage().serialize(), 'finalized'), null, 'not known there yet')
  legacy.recentBlockhash = wallet(5).publicKey.toBase58()
  t.equal(await fee(legacy.compileMessage().serialize()), null)
  const message = 'solana_message::versions::VersionedMessage'
  t.match((await call(node, 'getFeeForMessage', ['AAAA'])).error, {
    code: -32602,
    message: new RegExp(`^failed to deserialize ${message}: `)
  })
  t.match((await call(node, 'getFeeForMessage', ['!'])).error, {
    message: 'invalid base64 encoding: InvalidByte(0, 33)'
  })
})

t.test('statuses follow a transaction through the commitments', async (t) => {
  const { bank, node, payer } = await world(t)
  const executed = await land(bank, [transfer(payer, wallet(2).publicKey, 10n ** 9n)], [payer])
  const failed = await land(bank, [transfer(payer, wallet(2).publicKey, 10n ** 15n)], [payer], {
    skipPreflight: true
  })
  const signatures = [executed.signature, failed.signature, new Uint8Array(64)].map(encodeBase58)
  t.same(await result(node, 'getSignatureStatuses', [signatures]), {
    context: { apiVersion: '4.2.1', slot: 3 },
    value: [
      { slot: 2, confirmations: 1, status: { Ok: null }, err: null, confirmationStatus: 'confirmed' },
      {
        slot: 3,
        confirmations: 0,
        status: { Err: { InstructionError: [0, { Custom: 1 }] } },
        err: { InstructionError: [0, { Custom: 1 }] },
        confirmationStatus: 'processed'
      },
      null
    ]
  })
  await produce(bank, 40)
  t.match(await result(node, 'getSignatureStatuses', [[signatures[0]]]), {
    value: [{ confirmations: null, confirmationStatus: 'finalized' }]
  })
  await produce(bank, 300)
  t.match(
    await result(node, 'getSignatureStatuses', [[signatures[0]]]),
    { value: [null] },
    'only the history has it'
  )
  t.match(await result(node, 'getSignatureStatuses', [[signatures[0]], { searchTransactionHistory: true }]), {
    value: [{ confirmationStatus: 'finalized' }]
  })
  const refused = async (params: unknown[]): Promise<unknown> =>
    (await call(node, 'getSignatureStatuses', params)).error?.message
  t.equal(await refused([Array(257).fill(signatures[0])]), 'Too many inputs provided; max 256')
  t.equal(await refused([['abc']]), 'Invalid param: WrongSize')
})

t.test('signatures of an address come newest first, page by page, up to the commitment', async (t) => {
  const { bank, node, payer } = await world(t)
  const sent: string[] = []
  for (let i = 0; i < 5; i++) {
    const executed = await land(bank, [transfer(payer, wallet(2).publicKey, 10n ** 8n + BigInt(i))], [payer])
    sent.unshift(encodeBase58(executed.signature))
  }
  const key = wallet(2).publicKey.toBase58()
  const ask = async (config: object): Promise<string[]> => {
    const list = await result(node, 'getSignaturesForAddress', [key, { commitment: 'confirmed', ...config }])
    return (list as unknown as Json[]).map(({ signature }) => textOf(signature))
  }
  t.same(await ask({}), sent.slice(1), 'the newest is processed only')
  t.same(await ask({ limit: 2 }), sent.slice(1, 3))
  t.same(await ask({ limit: 2, before: sent[2] }), sent.slice(3, 5))
  t.same(await ask({ until: sent[3] }), sent.slice(1, 3))
  t.same(await ask({ commitment: 'finalized' }), [])
  const list = await result(node, 'getSignaturesForAddress', [key, { commitment: 'confirmed', limit: 1 }])
  t.same(list, [
    {
      signature: sent[1],
      slot: 5,
      err: null,
      memo: null,
      blockTime: 0,
      confirmationStatus: 'confirmed',
      transactionIndex: 0
    }
  ])
  const unknown = '1'.repeat(64)
  const cases: [object, object][] = [
    [{ limit: 0 }, { code: -32602, message: 'Invalid limit; max 1000' }],
    [{ limit: 1001 }, { code: -32602, message: 'Invalid limit; max 1000' }],
    [{ before: 'x' }, { code: -32602, message: 'Invalid param: WrongSize' }],
    [{ before: unknown }, { code: -32020, message: `Transaction ${unknown} not found` }],
    [{ minContextSlot: 1000 }, { code: -32016 }],
    [
      { commitment: 'processed' },
      { code: -32602, message: 'Method does not support commitment below `confirmed`' }
    ]
  ]
  for (const [config, error] of cases) {
    const answer = await call(node, 'getSignaturesForAddress', [key, { commitment: 'confirmed', ...config }])
    t.match(answer.error, error, JSON.stringify(config))
  }
})

t.test('version 0 is sent and simulated as legacy is', async (t) => {
  const { bank, payer, send, simulate } = await world(t)
  const message = new TransactionMessage({
    payerKey: payer.publicKey,
    recentBlockhash: encodeBase58(bank.latestBlockhash('processed').blockhash),
    instructions: [
      SystemProgram.transfer({
        fromPubkey: payer.publicKey,
        toPubkey: wallet(2).publicKey,
        lamports: 10 ** 9
      })
    ]
  }).compileToV0Message()
  const transaction = new VersionedTransaction(message)
  transaction.sign([payer])
  t.match(await simulate(transaction.serialize()), { err: null })
  t.match(await send(transaction.serialize()), { result: SIGNATURE })
  await produce(bank, 1)
  t.equal(lamportsOf(bank, wallet(2).publicKey), 10n ** 9n)
})
