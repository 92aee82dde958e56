import type { Pubkey } from '../../../chain/pubkey.ts'
import { ASSOCIATED_TOKEN, MEMO, RENT_SYSVAR, SYSTEM, TOKEN, TOKEN_2022 } from '../../programs.ts'
import { programAddress } from '../../../signing/program-address.ts'
import type { AccountUse, CallScript, TokenCalls } from '../script.ts'
import { record, wordsOf, type Values, type Words } from './record.ts'

/** Programs and system accounts that an account list may name without an address. */
const COMMON = {
  system: SYSTEM,
  token: TOKEN,
  token2022: TOKEN_2022,
  associatedToken: ASSOCIATED_TOKEN,
  rent: RENT_SYSVAR,
  memo: MEMO
}

/** Anchor's tag of an event that a program emits by a self-call. */
const SELF_CALL_TAG = 'e445a52e51cb9a1d'
/**
 * Number of hex digits of Anchor's discriminators; programs without Anchor have shorter ones and do not log
 * instructions.
 */
const ANCHOR_HEX = 16

type Unmarked<W extends string> = W extends `${infer Name}${'*' | '!' | '+'}` ? Name : W

/** Addresses by their names in an account list; a name may stand for several consecutive accounts. */
export type Addresses<Names extends string> = {
  readonly [N in Names]: Pubkey | readonly Pubkey[]
}

/** An instruction of a venue's program. */
export interface Instruction<F extends string, Names extends string> {
  /** Calls the program; Anchor's log line of the instruction precedes the body. */
  call(
    script: TokenCalls,
    addresses: Addresses<Names>,
    values: Values<F>,
    body?: (call: CallScript, data: Uint8Array) => void
  ): void
}

/** An event of a venue's program. */
export interface EventTable<F extends string> {
  emit(call: CallScript, values: Values<F>): void
}

type OwnNames = 'program' | 'eventAuthority'

/** A venue's program: the accounts that all its instructions share, and its tables. */
export class Program<Constant extends string> {
  readonly address: Pubkey
  readonly #events: 'log' | 'self-call'
  readonly #known: Readonly<Record<string, Pubkey>>

  /** `events` is how the program emits events: by `Program data:` lines, or by self-calls. */
  constructor(address: Pubkey, events: 'log' | 'self-call', constants: Readonly<Record<Constant, Pubkey>>) {
    this.address = address
    this.#events = events
    const eventAuthority = programAddress(['__event_authority'], this.address)
    this.#known = { ...COMMON, ...constants, program: this.address, eventAuthority }
  }

  /**
   * Declares an instruction: its name, its discriminator in hexadecimal, its arguments and its accounts in order. The
   * suffix of an account's name marks it: `*` writable, `+` signer, `!` both.
   */
  instruction<const F extends string, const A extends string>(
    name: string,
    discriminatorHex: string,
    fields: F,
    accounts: A
  ): Instruction<F, Exclude<Unmarked<Words<A>>, Constant | OwnNames | keyof typeof COMMON>> {
    const write = record(discriminatorHex, fields)
    const log = discriminatorHex.length === ANCHOR_HEX ? `Instruction: ${name}` : null
    const list = wordsOf(accounts).map(readMark)
    return {
      call: (script, addresses, values, body) => {
        const given: Readonly<Record<string, Pubkey | readonly Pubkey[]>> = addresses
        const uses: AccountUse[] = []
        for (const { name, mark } of list) {
          const address = this.#known[name] ?? given[name]
          if (address === undefined) throw new Error(`no address of ${name}`)
          if (address instanceof Uint8Array) uses.push({ address, ...mark })
          else for (const each of address) uses.push({ address: each, ...mark })
        }
        const data = write(values)
        script.call(this.address, uses, data, (call) => {
          if (log !== null) call.log(log)
          body?.(call, data)
        })
      }
    }
  }

  /** Declares an event: its discriminator in hexadecimal and its fields. */
  event<const F extends string>(discriminatorHex: string, fields: F): EventTable<F> {
    if (this.#events === 'log') {
      const write = record(discriminatorHex, fields)
      return { emit: (call, values) => call.logData(write(values)) }
    }
    const write = record(SELF_CALL_TAG + discriminatorHex, fields)
    const uses = [{ address: this.#known['eventAuthority']! }]
    return { emit: (call, values) => call.call(this.address, uses, write(values)) }
  }
}

/** Account flags by the suffix of the name. */
const MARKS: Readonly<Record<string, Omit<AccountUse, 'address'>>> = {
  '*': { writable: true },
  '+': { signer: true },
  '!': { signer: true, writable: true }
}

function readMark(word: string): { name: string; mark: Omit<AccountUse, 'address'> } {
  return { name: word.replace(/[*+!]$/, ''), mark: MARKS[word.at(-1)!] ?? {} }
}
