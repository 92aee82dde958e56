import { NO_SIGNATURE, NOBODY, type ComparedWorld } from './compared-world.ts'

/** A call that is made to two nodes. */
export interface Question {
  readonly name: string
  readonly method: string
  readonly params: readonly unknown[] | undefined
}

const TOKEN = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
const confirmed = { commitment: 'confirmed' }
const processed = { commitment: 'processed' }
const READ = { ...confirmed, maxSupportedTransactionVersion: 0 }
const LATER = { minContextSlot: 1_000_000_000 }

/** Methods with parameters, each of which is called with the kinds of wrong parameters below. */
const METHODS =
  `getBalance getAccountInfo getMultipleAccounts getTokenAccountBalance getTokenSupply getProgramAccounts
  sendTransaction simulateTransaction getTransaction getSignatureStatuses getSignaturesForAddress getTransactionCount
  getFeeForMessage getSlot getBlockHeight getLatestBlockhash isBlockhashValid getBlock getBlockTime getBlocksWithLimit
  getBlocks getBlockCommitment getFirstAvailableBlock getRecentPrioritizationFees getHealth getVersion getEpochInfo
  getEpochSchedule getGenesisHash getSlotLeader getSlotLeaders getMinimumBalanceForRentExemption
  getStakeMinimumDelegation requestAirdrop getTokenAccountsByOwner getIdentity minimumLedgerSlot getHighestSnapshotSlot
  getRecentPerformanceSamples getClusterNodes getRecentBlockhash nope`.split(/\s+/)

/** Returns all questions, with this node's values. */
export async function questionsOf(world: ComparedWorld): Promise<Question[]> {
  const asked: Question[] = []
  const ask = (name: string, method: string, ...params: unknown[]): void => {
    asked.push({ name: `${method}: ${name}`, method, params })
  }
  await askStatuses(world, ask)
  for (const method of METHODS) {
    asked.push({ name: `${method}: no parameters`, method, params: undefined })
    for (const [name, params] of [
      ['an empty list', []],
      ['an object', [{}]],
      ['a text', ['x']],
      ['null', [null]],
      ['five of them', [1, 2, 3, 4, 5]]
    ] as const) {
      // The answer to an object or null that lacks required fields depends on the node's state, and is requested
      // below.
      asked.push({ name: `${method}: ${name}`, method, params })
    }
  }
  askAccounts(world, ask)
  askBlocks(world, ask)
  askTransactions(world, ask)
  await askSubmission(world, ask)
  askCluster(ask)
  return asked
}

type Ask = (name: string, method: string, ...params: unknown[]) => void

/** Asked first, about a transaction that has just landed: a confirmed one is finalized about 13 s later. */
async function askStatuses(world: ComparedWorld, ask: Ask): Promise<void> {
  const signatures = [await world.transfer(), NO_SIGNATURE]
  ask('two', 'getSignatureStatuses', signatures)
  ask('in history', 'getSignatureStatuses', signatures, { searchTransactionHistory: true })
}

function askAccounts({ payer, mint, account }: ComparedWorld, ask: Ask): void {
  const key = payer.publicKey.toBase58()
  ask('a wallet', 'getBalance', key, confirmed)
  ask('nobody', 'getBalance', NOBODY, confirmed)
  ask('a later slot', 'getBalance', key, { ...confirmed, ...LATER, minContextSlot: -1 })
  ask('an unknown commitment', 'getBalance', NOBODY, { commitment: 'x' })
  ask('a bad digit', 'getBalance', '0'.repeat(44))
  for (const encoding of ['base58', 'base64', 'base64+zstd', 'jsonParsed', 'binary', 'foo']) {
    for (const [name, address] of Object.entries({
      wallet: key,
      mint,
      account,
      nobody: NOBODY,
      program: TOKEN
    })) {
      ask(`${name} in ${encoding}`, 'getAccountInfo', address, { ...confirmed, encoding })
    }
  }
  ask('a slice', 'getAccountInfo', mint, {
    ...confirmed,
    encoding: 'base64',
    dataSlice: { offset: 4, length: 8 }
  })
  ask('half a slice', 'getAccountInfo', mint, { dataSlice: {} })
  ask('three', 'getMultipleAccounts', [mint, NOBODY, account], confirmed)
  ask('parsed', 'getMultipleAccounts', [mint, account], { ...confirmed, encoding: 'jsonParsed' })
  ask('too many', 'getMultipleAccounts', Array(101).fill(key))
  const mine = [{ dataSize: 165 }, { memcmp: { offset: 32, bytes: key } }]
  ask('filtered', 'getProgramAccounts', TOKEN, { ...confirmed, encoding: 'base64', filters: mine })
  ask('parsed', 'getProgramAccounts', TOKEN, {
    ...confirmed,
    encoding: 'jsonParsed',
    filters: mine,
    withContext: true
  })
  for (const [name, filters] of Object.entries({
    'too many filters': Array(5).fill({ dataSize: 1 }),
    'a strange filter': [{ foo: 1 }],
    'a bad size': [{ dataSize: 'x' }],
    'bad base58': [{ memcmp: { offset: 0, bytes: '0' } }],
    'bad base64': [{ memcmp: { offset: 0, bytes: '!!', encoding: 'base64' } }],
    'too much to compare': [{ memcmp: { offset: 0, bytes: '1'.repeat(300) } }],
    'a state': ['tokenAccountState']
  })) {
    ask(name, 'getProgramAccounts', NOBODY, { ...confirmed, filters })
  }
  for (const [name, filter] of Object.entries({
    'by mint': { mint },
    'by program': { programId: TOKEN },
    'no mint': { mint: NOBODY },
    'no program': { programId: NOBODY },
    nothing: {},
    'a strange word': { foo: 1 },
    'a bad mint': { mint: 'x' }
  })) {
    ask(name, 'getTokenAccountsByOwner', key, filter, { ...confirmed, encoding: 'jsonParsed' })
  }
  for (const [name, address] of Object.entries({ mint, account, wallet: key, nobody: NOBODY })) {
    ask(name, 'getTokenAccountBalance', address, confirmed)
    ask(name, 'getTokenSupply', address, confirmed)
  }
  ask('no commitment in it', 'getTokenSupply', mint, {})
  ask('a mint', 'getMinimumBalanceForRentExemption', 82)
  ask('too much', 'getMinimumBalanceForRentExemption', 1_000_000_000)
}

function askBlocks({ landed }: ComparedWorld, ask: Ask): void {
  for (const encoding of ['json', 'base64', 'base58', 'binary', 'jsonParsed', 'foo']) {
    ask(`in ${encoding}`, 'getBlock', landed.transfer.slot, { ...READ, encoding })
  }
  for (const transactionDetails of ['signatures', 'accounts', 'none', 'foo']) {
    ask(`with ${transactionDetails}`, 'getBlock', landed.transfer.slot, { ...READ, transactionDetails })
    ask(`version 0 with ${transactionDetails}`, 'getBlock', landed.versioned.slot, {
      ...confirmed,
      transactionDetails
    })
  }
  ask('of version 0', 'getBlock', landed.versioned.slot, READ)
  ask('unread version', 'getBlock', landed.versioned.slot, confirmed)
  ask('a version too high', 'getBlock', landed.versioned.slot, {
    ...confirmed,
    maxSupportedTransactionVersion: 256
  })
  ask('without rewards', 'getBlock', landed.transfer.slot, {
    ...READ,
    rewards: false,
    transactionDetails: 'none'
  })
  ask('genesis', 'getBlock', 0)
  ask('processed', 'getBlock', landed.transfer.slot, processed)
  for (const [name, slot] of Object.entries({ future: 1_000_000, negative: -1, fraction: 1.5, text: '1' })) {
    ask(name, 'getBlock', slot, confirmed)
    ask(name, 'getBlockTime', slot)
    ask(name, 'getBlockCommitment', slot)
  }
  ask('a block', 'getBlockTime', landed.transfer.slot)
  ask('a block', 'getBlockCommitment', landed.transfer.slot)
  ask('a few', 'getBlocks', 0, 3, confirmed)
  ask('to the end', 'getBlocks', landed.transfer.slot, confirmed)
  ask('backwards', 'getBlocks', 5, 2)
  ask('processed', 'getBlocks', 0, 3, processed)
  ask('a few', 'getBlocksWithLimit', 0, 3, confirmed)
  ask('too many', 'getBlocksWithLimit', 0, 500_001)
  ask('processed', 'getBlocksWithLimit', 0, 3, processed)
}

function askTransactions({ payer, landed, mint }: ComparedWorld, ask: Ask): void {
  for (const [name, { signature }] of Object.entries(landed)) {
    for (const encoding of ['json', 'base64', 'base58', 'jsonParsed']) {
      ask(`${name} in ${encoding}`, 'getTransaction', signature, { ...READ, encoding })
    }
  }
  ask('unread version', 'getTransaction', landed.versioned.signature, confirmed)
  ask('without versions', 'getTransaction', landed.transfer.signature, confirmed)
  ask('an encoding alone', 'getTransaction', NO_SIGNATURE, 'base64')
  ask('none', 'getTransaction', NO_SIGNATURE, READ)
  ask('processed', 'getTransaction', landed.transfer.signature, processed)
  ask('too many', 'getSignatureStatuses', Array(257).fill(NO_SIGNATURE))
  ask('a bad one', 'getSignatureStatuses', ['x'])
  const key = payer.publicKey.toBase58()
  ask('a wallet', 'getSignaturesForAddress', key, confirmed)
  ask('a mint', 'getSignaturesForAddress', mint, { ...confirmed, limit: 1 })
  ask('between', 'getSignaturesForAddress', key, {
    ...confirmed,
    before: landed.versioned.signature,
    until: landed.mint.signature
  })
  ask('nobody', 'getSignaturesForAddress', NOBODY, confirmed)
  for (const [name, config] of Object.entries({
    'none of them': { limit: 0 },
    'too many': { limit: 1001 },
    'before nothing': { before: NO_SIGNATURE },
    'before what is none': { before: 'x' },
    processed
  })) {
    ask(name, 'getSignaturesForAddress', key, { ...confirmed, ...config })
  }
}

async function askSubmission(world: ComparedWorld, ask: Ask): Promise<void> {
  const key = world.payer.publicKey.toBase58()
  const base64 = { encoding: 'base64', preflightCommitment: 'confirmed', ...confirmed }
  const good = await world.unsent(100_000_000)
  const forged = Buffer.from(good, 'base64')
  forged[5]! ^= 1
  const unsound = Buffer.from(good, 'base64')
  unsound[65] = 9
  const wires = {
    'too much': await world.unsent(10 ** 15),
    'too little to stay': await world.unsent(5),
    'an old blockhash': await world.unsent(100_000_000, NOBODY),
    'a bad signature': forged.toString('base64'),
    'an unsound header': unsound.toString('base64'),
    'half of it': Buffer.from(good, 'base64').subarray(0, 100).toString('base64'),
    'strange characters': '!!!!',
    'more than a packet': Buffer.alloc(1233).toString('base64'),
    'more characters than a packet': Buffer.alloc(1300).toString('base64')
  }
  for (const method of ['sendTransaction', 'simulateTransaction']) {
    for (const [name, wire] of Object.entries(wires)) ask(name, method, wire, base64)
    ask('no base58', method, '0OIl')
    ask('in JSON', method, 'AAAA', { encoding: 'json' })
  }
  ask('a bad signature without preflight', 'sendTransaction', wires['a bad signature'], {
    ...base64,
    skipPreflight: true
  })
  ask('an old blockhash without preflight', 'sendTransaction', wires['an old blockhash'], {
    ...base64,
    skipPreflight: true
  })
  ask('good', 'simulateTransaction', good, base64)
  ask('a bad signature, checked', 'simulateTransaction', wires['a bad signature'], {
    ...base64,
    sigVerify: true
  })
  ask('a blockhash replaced', 'simulateTransaction', wires['an old blockhash'], {
    ...base64,
    replaceRecentBlockhash: true
  })
  ask('both', 'simulateTransaction', good, { ...base64, sigVerify: true, replaceRecentBlockhash: true })
  const addresses = [key, NOBODY]
  ask('accounts', 'simulateTransaction', good, {
    ...base64,
    innerInstructions: true,
    accounts: { addresses, encoding: 'base64' }
  })
  ask('accounts in base58', 'simulateTransaction', good, {
    ...base64,
    accounts: { addresses, encoding: 'base58' }
  })
  ask('too many accounts', 'simulateTransaction', good, {
    ...base64,
    accounts: { addresses: Array(5).fill(key) }
  })
  ask('sent', 'sendTransaction', good, base64)
  for (const [name, lamports] of Object.entries({
    text: 'x',
    negative: -1,
    fraction: 1.5,
    some: 1_000_000_000
  })) {
    ask(name, 'requestAirdrop', key, lamports)
  }
  ask('half a message', 'getFeeForMessage', 'AAAA')
  ask('a message', 'getFeeForMessage', Buffer.from(good, 'base64').subarray(65).toString('base64'), confirmed)
}

function askCluster(ask: Ask): void {
  for (const method of [
    'getSlot',
    'getBlockHeight',
    'getLatestBlockhash',
    'getEpochInfo',
    'getTransactionCount',
    'getSlotLeader',
    'getStakeMinimumDelegation'
  ]) {
    ask('confirmed', method, confirmed)
    ask('a number', method, 1)
  }
  ask('none', 'isBlockhashValid', NOBODY, confirmed)
  ask('some', 'getSlotLeaders', 0, 3)
  ask('too many', 'getSlotLeaders', 0, 5_001)
  ask('far away', 'getSlotLeaders', 1_000_000_000, 3)
  ask('none', 'getRecentPrioritizationFees', [])
  ask('too many', 'getRecentPrioritizationFees', Array(129).fill(NOBODY))
}

/** Bodies that are not exactly one call. */
export const BODIES: Readonly<Record<string, string>> = {
  'no JSON': '{bad',
  nothing: '',
  'an empty batch': '[]',
  'a number': '1',
  null: 'null',
  'no version': '{"id":1,"method":"getHealth"}',
  'another version': '{"jsonrpc":"1.0","id":1,"method":"getHealth"}',
  'no method': '{"jsonrpc":"2.0","id":1}',
  'a method that is a number': '{"jsonrpc":"2.0","id":1,"method":1}',
  'a notification': '{"jsonrpc":"2.0","method":"getHealth"}',
  'a batch of a notification': '[{"jsonrpc":"2.0","method":"getHealth"}]',
  'a batch': '[{"jsonrpc":"2.0","id":"a","method":"getHealth"},{"jsonrpc":"2.0","id":null,"method":"nope"}]',
  'a batch with a number': '[{"jsonrpc":"2.0","id":"a","method":"getHealth"},1]',
  'an id with a fraction': '{"jsonrpc":"2.0","id":1.5,"method":"getHealth"}',
  'an id that is an object': '{"jsonrpc":"2.0","id":{},"method":"getHealth"}',
  'the largest id': '{"jsonrpc":"2.0","id":18446744073709551615,"method":"getHealth"}',
  'a larger id': '{"jsonrpc":"2.0","id":18446744073709551616,"method":"getHealth"}',
  'parameters that are text': '{"jsonrpc":"2.0","id":1,"method":"getBalance","params":"x"}',
  'parameters by name': '{"jsonrpc":"2.0","id":1,"method":"getBalance","params":{"a":1}}',
  'a strange member': '{"jsonrpc":"2.0","id":1,"method":"getHealth","more":1}'
}
