import { samePubkey, type Pubkey } from '../../chain/pubkey.ts'
import { NATIVE_MINT } from '../../chain/token-accounts.ts'
import { ByteWriter } from '../../chain/codec.ts'
import { ASSOCIATED_TOKEN, SYSTEM, TOKEN, TOKEN_2022 } from '../programs.ts'
import type { Ledger } from './ledger.ts'
import type { CompiledCall } from './message.ts'
import type { AccountUse, CallScript, NewMint, TokenMovement } from './script.ts'
import { mintAccount, newMint, rentExempt } from './token-layouts.ts'

/** A written call: its calls and log lines, in order. */
export interface WrittenCall extends CompiledCall {
  readonly height: number
  readonly items: (WrittenCall | string)[]
}

/**
 * Writes the calls below one call, or the outer instructions of a transaction if `height` is 0, and applies them to the
 * ledger.
 */
export class CallWriter implements CallScript {
  readonly blockTime: number
  readonly slot: number
  readonly #ledger: Ledger
  readonly #payer: Pubkey
  readonly #program: Pubkey | null
  readonly #height: number
  readonly #items: (WrittenCall | string)[]

  constructor(place: {
    readonly ledger: Ledger
    readonly payer: Pubkey
    readonly blockTime: number
    readonly slot: number
    readonly program: Pubkey | null
    readonly height: number
    readonly items: (WrittenCall | string)[]
  }) {
    this.blockTime = place.blockTime
    this.slot = place.slot
    this.#ledger = place.ledger
    this.#payer = place.payer
    this.#program = place.program
    this.#height = place.height
    this.#items = place.items
  }

  call(
    program: Pubkey,
    accounts: readonly AccountUse[],
    data: Uint8Array,
    body?: (call: CallScript) => void
  ): void {
    const written: WrittenCall = { program, accounts, data, height: this.#height + 1, items: [] }
    if (written.height > 5) throw new Error('calls nest five deep at most')
    this.#items.push(written)
    body?.(
      new CallWriter({
        ledger: this.#ledger,
        payer: this.#payer,
        blockTime: this.blockTime,
        slot: this.slot,
        program,
        height: written.height,
        items: written.items
      })
    )
  }

  log(text: string): void {
    this.#items.push(`Program log: ${text}`)
  }

  logData(data: Uint8Array): void {
    this.#items.push(`Program data: ${data.toBase64()}`)
  }

  transfer({ mint, from, to, authority, amount, checked }: TokenMovement): void {
    const { decimals, program } = this.#ledger.mint(mint)
    this.#ledger.addTokens(from, mint, -amount)
    this.#ledger.addTokens(to, mint, amount)
    if (checked === false) {
      const accounts = [writable(from), writable(to), signing(authority)]
      return this.#token(program, 'Transfer', accounts, amountData(3, amount))
    }
    const accounts = [writable(from), { address: mint }, writable(to), signing(authority)]
    this.#token(program, 'TransferChecked', accounts, amountData(12, amount, decimals))
  }

  mintTo({ mint, to, authority, amount }: Parameters<CallScript['mintTo']>[0]): void {
    const { program } = this.#ledger.mint(mint)
    this.#ledger.addSupply(mint, amount)
    this.#ledger.addTokens(to, mint, amount)
    const accounts = [writable(mint), writable(to), signing(authority)]
    this.#token(program, 'MintTo', accounts, amountData(7, amount))
  }

  burn({ mint, from, authority, amount }: Parameters<CallScript['burn']>[0]): void {
    const { program } = this.#ledger.mint(mint)
    this.#ledger.addTokens(from, mint, -amount)
    this.#ledger.addSupply(mint, -amount)
    const accounts = [writable(from), writable(mint), signing(authority)]
    this.#token(program, 'Burn', accounts, amountData(8, amount))
  }

  dropMintAuthority(mint: Pubkey, authority: Pubkey): void {
    const account = this.#ledger.account(mint)
    if (account === null) throw new Error('there is no such mint')
    const data = account.data.slice()
    mintAccount.dropAuthority(data)
    this.#ledger.setData(mint, data)
    // SetAuthority of the mint's tokens, to null.
    const accounts = [writable(mint), signing(authority)]
    this.#token(account.owner, 'SetAuthority', accounts, Uint8Array.of(6, 0, 0))
  }

  transferLamports(from: Pubkey, to: Pubkey, lamports: bigint): void {
    this.#ledger.addLamports(from, -lamports)
    this.#ledger.addLamports(to, lamports)
    const data = new ByteWriter()
    data.uint(2n, 4)
    data.uint(lamports, 8)
    this.#builtin([payingFrom(from), writable(to)], data.finish())
  }

  takeLamports(from: Pubkey, to: Pubkey, lamports: bigint): void {
    const account = this.#ledger.account(from)
    if (account === null || this.#program === null || !samePubkey(account.owner, this.#program)) {
      throw new Error('a program takes lamports out of its own accounts only')
    }
    this.#ledger.addLamports(from, -lamports)
    this.#ledger.addLamports(to, lamports)
  }

  createMint({ address, decimals, authority, token2022 }: NewMint): void {
    const program = token2022 === true ? TOKEN_2022 : TOKEN
    const data = newMint(decimals, authority)
    this.#createAccount(address, program, data)
    const initialize = Uint8Array.of(20, decimals, ...authority, 0)
    this.#token(program, 'InitializeMint2', [writable(address)], initialize)
  }

  ensureTokenAccount(owner: Pubkey, mint: Pubkey): Pubkey {
    const address = this.#ledger.tokenAccountOf(owner, mint)
    if (this.#ledger.account(address) !== null) return address
    const { program } = this.#ledger.mint(mint)
    const accounts = [
      payingFrom(this.#payer),
      writable(address),
      { address: owner },
      { address: mint },
      { address: SYSTEM },
      { address: program }
    ]
    this.call(ASSOCIATED_TOKEN, accounts, Uint8Array.of(1), (call) => {
      call.log('CreateIdempotent')
      const inner = call as CallWriter
      inner.#token(program, 'GetAccountDataSize', [{ address: mint }], Uint8Array.of(21, 7, 0))
      const immutable = samePubkey(program, TOKEN_2022)
      inner.#openTokenAccount(address, owner, mint, immutable, () =>
        inner.#token(program, 'InitializeImmutableOwner', [writable(address)], Uint8Array.of(22))
      )
    })
    return address
  }

  createTokenAccount(address: Pubkey, owner: Pubkey, mint: Pubkey): void {
    this.#openTokenAccount(address, owner, mint, false)
  }

  closeTokenAccount(address: Pubkey, to: Pubkey, authority: Pubkey): void {
    const account = this.#ledger.account(address)
    if (account === null) throw new Error('there is no such token account')
    this.#ledger.close(address, to)
    const accounts = [writable(address), writable(to), signing(authority)]
    this.#token(account.owner, 'CloseAccount', accounts, Uint8Array.of(9))
  }

  wrap(owner: Pubkey, lamports: bigint): Pubkey {
    const address = this.ensureTokenAccount(owner, NATIVE_MINT)
    this.transferLamports(owner, address, lamports)
    this.#ledger.syncNative(address)
    this.#token(TOKEN, 'SyncNative', [writable(address)], Uint8Array.of(17))
    return address
  }

  write(address: Pubkey, data: Uint8Array): void {
    if (this.#program === null) throw new Error('only a program writes accounts')
    const account = this.#ledger.account(address)
    if (account === null || samePubkey(account.owner, SYSTEM)) {
      return this.#createAccount(address, this.#program, data)
    }
    if (!samePubkey(account.owner, this.#program)) throw new Error('an account of another program')
    const wanted = rentExempt(data.length)
    if (account.lamports < wanted) this.transferLamports(this.#payer, address, wanted - account.lamports)
    this.#ledger.setData(address, data.slice())
  }

  #openTokenAccount(
    address: Pubkey,
    owner: Pubkey,
    mint: Pubkey,
    immutable: boolean,
    between: () => void = () => undefined
  ): void {
    const { program } = this.#ledger.mint(mint)
    if (this.#ledger.account(address) !== null) throw new Error('the account is there already')
    const size = immutable ? 170 : 165
    this.#createAccount(address, program, new Uint8Array(size))
    between()
    this.#ledger.createTokenAccount(address, owner, mint, immutable)
    const initialize = Uint8Array.of(18, ...owner)
    this.#token(program, 'InitializeAccount3', [writable(address), { address: mint }], initialize)
  }

  /** Calls the system program's CreateAccount; the payer pays the rent. */
  #createAccount(address: Pubkey, program: Pubkey, data: Uint8Array): void {
    const rent = rentExempt(data.length)
    const already = this.#ledger.lamports(address)
    const lamports = rent > already ? rent - already : 0n
    this.#ledger.addLamports(this.#payer, -lamports)
    this.#ledger.addLamports(address, lamports)
    this.#ledger.create(address, program, data.slice())
    const args = new ByteWriter()
    args.uint(0n, 4)
    args.uint(lamports, 8)
    args.uint(BigInt(data.length), 8)
    args.bytes(program)
    this.#builtin([payingFrom(this.#payer), payingFrom(address)], args.finish())
  }

  #token(program: Pubkey, name: string, accounts: readonly AccountUse[], data: Uint8Array): void {
    const uses = this.#height === 0 ? accounts : accounts.map(unsigned)
    this.call(program, uses, data, (call) => call.log(`Instruction: ${name}`))
  }

  #builtin(accounts: readonly AccountUse[], data: Uint8Array): void {
    this.call(SYSTEM, this.#height === 0 ? accounts : accounts.map(unsigned), data)
  }
}

function amountData(tag: number, amount: bigint, decimals?: number): Uint8Array {
  const data = new ByteWriter()
  data.uint(BigInt(tag), 1)
  data.uint(amount, 8)
  if (decimals !== undefined) data.uint(BigInt(decimals), 1)
  return data.finish()
}

function writable(address: Pubkey): AccountUse {
  return { address, writable: true }
}

function signing(address: Pubkey): AccountUse {
  return { address, signer: true }
}

function payingFrom(address: Pubkey): AccountUse {
  return { address, signer: true, writable: true }
}

/** Removes the signer mark: below an instruction, only the outer one lists signers. */
function unsigned({ address, writable }: AccountUse): AccountUse {
  return { address, writable: writable === true }
}
