/**
 * One transaction of the market while it is written: its instructions, what they call, move and log. Balances, logs,
 * indexes of accounts, stack heights and rent follow from what is written, so a venue says only what its program does.
 */
export interface TransactionScript extends TokenCalls {
  /** Pays the fee and signs. */
  readonly payer: Uint8Array
  /** Ends as failed with this error code of the last call's program: nothing of it has happened, but the fee. */
  fail(customError: number): void
}

export interface AccountUse {
  readonly address: Uint8Array
  readonly signer?: boolean
  readonly writable?: boolean
}

/** What a program does while one of its instructions runs, in order. */
export interface CallScript extends TokenCalls {
  /** `Program log: <text>`. */
  log(text: string): void
  /** `Program data: <base64>`. */
  logData(data: Uint8Array): void
  /** The calling program takes lamports out of an account that it owns, without a call. */
  takeLamports(from: Uint8Array, to: Uint8Array, lamports: bigint): void
  /** Writes an account of the calling program; it is made, and its rent paid by the payer, where it was not there. */
  write(address: Uint8Array, data: Uint8Array): void
}

/** Calls of programs: outer instructions of a transaction's script, inner ones of a call's. */
export interface TokenCalls {
  /** Unix seconds of the block that it goes into, and its slot: some events and accounts state them. */
  readonly blockTime: number
  readonly slot: number
  /**
   * Calls a program, which may be itself: for self-calls that carry an event, `data` is the event with its tag. Of an
   * outer instruction, accounts that sign have to say so; below one, nobody looks at it.
   */
  call(
    program: Uint8Array,
    accounts: readonly AccountUse[],
    data: Uint8Array,
    body?: (call: CallScript) => void
  ): void
  /**
   * Moves tokens between two token accounts by a call of the mint's token program. Throws a LackingFunds where the source
   * lacks them, an Error where one of the two is not there or of another mint.
   */
  transfer(movement: TokenMovement): void
  mintTo(movement: {
    readonly mint: Uint8Array
    readonly to: Uint8Array
    readonly authority: Uint8Array
    readonly amount: bigint
  }): void
  burn(movement: {
    readonly mint: Uint8Array
    readonly from: Uint8Array
    readonly authority: Uint8Array
    readonly amount: bigint
  }): void
  /** A transfer by the system program. */
  transferLamports(from: Uint8Array, to: Uint8Array, lamports: bigint): void
  /** Makes a mint; its first supply comes by `mintTo`. */
  createMint(mint: NewMint): void
  /** Takes the right to mint from everybody. */
  dropMintAuthority(mint: Uint8Array, authority: Uint8Array): void
  /** Makes the owner's associated token account unless it is there; returns its address. */
  ensureTokenAccount(owner: Uint8Array, mint: Uint8Array): Uint8Array
  /** Makes a token account at an address, such as a vault. */
  createTokenAccount(address: Uint8Array, owner: Uint8Array, mint: Uint8Array): void
  /** Its lamports, with those of wrapped SOL, go to an account. */
  closeTokenAccount(address: Uint8Array, to: Uint8Array, authority: Uint8Array): void
  /** Turns the owner's lamports into tokens of the owner's associated account of wrapped SOL; returns its address. */
  wrap(owner: Uint8Array, lamports: bigint): Uint8Array
}

export interface TokenMovement {
  readonly mint: Uint8Array
  readonly from: Uint8Array
  readonly to: Uint8Array
  readonly authority: Uint8Array
  readonly amount: bigint
  /** TransferChecked, as nearly all programs use; plain Transfer where false. */
  readonly checked?: boolean
}

export interface NewMint {
  readonly address: Uint8Array
  readonly decimals: number
  readonly authority: Uint8Array
  /** Token-2022 instead of the classic token program. */
  readonly token2022?: boolean
}

/** What the market knows of accounts, as they are after everything written so far. */
export interface LedgerView {
  lamports(address: Uint8Array): bigint
  /** Raw amount in a token account; 0n where there is none. */
  tokens(tokenAccount: Uint8Array): bigint
  /** The bytes of an account; null where there is none. */
  data(address: Uint8Array): Uint8Array | null
  /** Throws where there is no such mint. */
  mint(address: Uint8Array): {
    readonly decimals: number
    readonly supply: bigint
    readonly program: Uint8Array
  }
  /** The address of the owner's associated token account, whether it is there or not. */
  tokenAccountOf(owner: Uint8Array, mint: Uint8Array): Uint8Array
}
