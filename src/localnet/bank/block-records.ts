import type { ExecutedTransaction, InnerGroup, LocalAccount, LocalBlock, MetaTokenBalance } from '../chain.ts'
import { RecordReader, RecordWriter } from './record-bytes.ts'

/** The fields of a block other than its transactions. */
export type BlockHeader = Omit<LocalBlock, 'transactions'>

/** A block in stored form; transactions are unpacked one by one on demand. */
export interface PackedBlock {
  readonly header: BlockHeader
  /** The whole record as stored on disk. */
  readonly bytes: Uint8Array
  /** Offset in the record of each transaction. */
  readonly offsets: Uint32Array
}

const writer = new RecordWriter()

export function packBlock(block: LocalBlock): PackedBlock {
  const { transactions, ...header } = block
  writer.count(header.slot)
  writer.count(header.parentSlot)
  writer.count(header.blockHeight)
  writer.count(header.blockTime)
  writer.fixed(header.blockhash, 32)
  writer.fixed(header.previousBlockhash, 32)
  writer.count(transactions.length)
  const offsets = new Uint32Array(transactions.length)
  for (const [index, transaction] of transactions.entries()) {
    const body = packTransaction(transaction)
    writer.count(body.length)
    offsets[index] = writer.length
    writer.fixed(body, body.length)
  }
  return { header, bytes: writer.take(), offsets }
}

/** Reads a stored block's header and offsets; throws a RangeError if the bytes are not a block. */
export function readPackedBlock(bytes: Uint8Array): PackedBlock {
  const from = new RecordReader(bytes)
  const header = {
    slot: from.count(),
    parentSlot: from.count(),
    blockHeight: from.count(),
    blockTime: from.count(),
    blockhash: from.fixed(32),
    previousBlockhash: from.fixed(32)
  }
  const offsets = new Uint32Array(from.count())
  for (let index = 0; index < offsets.length; index++) {
    const body = from.bytes()
    offsets[index] = body.byteOffset - bytes.byteOffset
  }
  return { header, bytes, offsets }
}

/** Returns a stored block that does not retain its bytes; they are read each time they are needed. */
export function blockOnDisk(
  { header, offsets }: PackedBlock,
  read: (slot: number) => Uint8Array
): PackedBlock {
  const { slot, blockhash, previousBlockhash } = header
  return {
    // Copied, because the hashes of a loaded block are views of its bytes.
    header: { ...header, blockhash: blockhash.slice(), previousBlockhash: previousBlockhash.slice() },
    offsets,
    get bytes() {
      return read(slot)
    }
  }
}

export function unpackBlock({ header, offsets, bytes }: PackedBlock): LocalBlock {
  const read = { header, offsets, bytes }
  const transactions = Array.from(offsets, (_, index) => unpackTransaction(read, index))
  return { ...header, transactions }
}

/** Returns a stored block whose transactions are unpacked at each read. */
export function lazyBlock(packed: PackedBlock): LocalBlock {
  return {
    ...packed.header,
    get transactions() {
      return unpackBlock(packed).transactions
    }
  }
}

/** Returns the bytes of a transaction as it was sent, without the record of its execution. */
export function wireIn({ bytes, offsets }: PackedBlock, index: number): Uint8Array {
  const from = new RecordReader(bytes, offsets[index])
  from.fixed(64)
  return from.bytes()
}

export function unpackTransaction(packed: PackedBlock, index: number): ExecutedTransaction {
  const from = new RecordReader(packed.bytes, packed.offsets[index])
  return {
    signature: from.fixed(64),
    wire: from.bytes(),
    isVote: from.byte() === 1,
    meta: {
      err: JSON.parse(from.text()) as unknown,
      fee: from.amount(),
      computeUnits: from.amount(),
      preBalances: from.list(() => from.amount()),
      postBalances: from.list(() => from.amount()),
      preTokenBalances: from.list(() => readTokenBalance(from)),
      postTokenBalances: from.list(() => readTokenBalance(from)),
      inner: from.list(() => readGroup(from)),
      logs: from.list(() => from.text()),
      loadedWritable: from.list(() => from.fixed(32)),
      loadedReadonly: from.list(() => from.fixed(32)),
      returnData: from.byte() === 0 ? null : { program: from.fixed(32), data: from.bytes() }
    }
  }
}

const body = new RecordWriter()

function packTransaction({ signature, wire, isVote, meta }: ExecutedTransaction): Uint8Array {
  body.fixed(signature, 64)
  body.bytes(wire)
  body.byte(isVote ? 1 : 0)
  body.text(JSON.stringify(meta.err ?? null))
  body.amount(meta.fee)
  body.amount(meta.computeUnits)
  body.list(meta.preBalances, (balance) => body.amount(balance))
  body.list(meta.postBalances, (balance) => body.amount(balance))
  body.list(meta.preTokenBalances, writeTokenBalance)
  body.list(meta.postTokenBalances, writeTokenBalance)
  body.list(meta.inner, writeGroup)
  body.list(meta.logs, (line) => body.text(line))
  body.list(meta.loadedWritable, (key) => body.fixed(key, 32))
  body.list(meta.loadedReadonly, (key) => body.fixed(key, 32))
  body.byte(meta.returnData === null ? 0 : 1)
  if (meta.returnData !== null) {
    body.fixed(meta.returnData.program, 32)
    body.bytes(meta.returnData.data)
  }
  return body.drain()
}

function writeTokenBalance(balance: MetaTokenBalance): void {
  body.count(balance.accountIndex)
  body.fixed(balance.mint, 32)
  body.fixed(balance.owner, 32)
  body.fixed(balance.program, 32)
  body.amount(balance.amount)
  body.byte(balance.decimals)
}

function readTokenBalance(from: RecordReader): MetaTokenBalance {
  return {
    accountIndex: from.count(),
    mint: from.fixed(32),
    owner: from.fixed(32),
    program: from.fixed(32),
    amount: from.amount(),
    decimals: from.byte()
  }
}

function writeGroup(group: InnerGroup): void {
  body.count(group.index)
  body.list(group.instructions, ({ programIndex, accounts, data, stackHeight }) => {
    body.byte(programIndex)
    body.bytes(Uint8Array.from(accounts))
    body.bytes(data)
    body.byte(stackHeight)
  })
}

function readGroup(from: RecordReader): InnerGroup {
  return {
    index: from.count(),
    instructions: from.list(() => ({
      programIndex: from.byte(),
      accounts: Array.from(from.bytes()),
      data: from.bytes(),
      stackHeight: from.byte()
    }))
  }
}

const accountWriter = new RecordWriter()

/** Returns the bytes of an account, valid until the next one is packed. */
export function packAccount(account: LocalAccount): Uint8Array {
  writeAccount(account)
  return accountWriter.drain()
}

export function packAccounts(accounts: readonly LocalAccount[]): Uint8Array {
  accountWriter.list(accounts, writeAccount)
  return accountWriter.take()
}

export function unpackAccount(bytes: Uint8Array): LocalAccount {
  return readAccount(new RecordReader(bytes))
}

export function unpackAccounts(bytes: Uint8Array): LocalAccount[] {
  const from = new RecordReader(bytes)
  return from.list(() => readAccount(from))
}

function writeAccount(account: LocalAccount): void {
  accountWriter.fixed(account.address, 32)
  accountWriter.fixed(account.owner, 32)
  accountWriter.amount(account.lamports)
  accountWriter.byte(account.executable ? 1 : 0)
  accountWriter.amount(account.rentEpoch)
  accountWriter.bytes(account.data)
}

function readAccount(from: RecordReader): LocalAccount {
  return {
    address: from.fixed(32),
    owner: from.fixed(32),
    lamports: from.amount(),
    executable: from.byte() === 1,
    rentEpoch: from.amount(),
    data: from.bytes()
  }
}
