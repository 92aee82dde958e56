/**
 * A market transaction being written: its instructions, calls, transfers and logs. Balances, account indexes, stack
 * heights and rent follow from them, so a venue states only what its program does.
 */
export interface TransactionScript extends TokenCalls {
  /** Pays the fee and signs. */
  readonly payer: Uint8Array
  /** Ends the transaction as failed with an error code of the last call's program; only the fee is charged. */
  fail(customError: number): void
}

export interface AccountUse {
  readonly address: Uint8Array
  readonly signer?: boolean
  readonly writable?: boolean
}

/** The actions of a program while one of its instructions runs, in order. */
export interface CallScript extends TokenCalls {
  /** Logs `Program log: <text>`. */
  log(text: string): void
  /** Logs `Program data: <base64>`. */
  logData(data: Uint8Array): void
  /** Takes lamports from an account that the calling program owns, without a call. */
  takeLamports(from: Uint8Array, to: Uint8Array, lamports: bigint): void
  /** Writes an account of the calling program; a missing one is created, and the payer pays its rent. */
  write(address: Uint8Array, data: Uint8Array): void
}

/** Calls of programs: outer instructions of a transaction's script, inner ones of a call's. */
export interface TokenCalls {
  /** Unix seconds of the block that includes it, and its slot: some events and accounts state them. */
  readonly blockTime: number
  readonly slot: number
  /**
   * Calls a program, which may be the caller: in a self-call with an event, `data` is the event with its tag. Accounts
   * of an outer instruction must mark their signers; below an instruction, the mark is ignored.
   */
  call(
    program: Uint8Array,
    accounts: readonly AccountUse[],
    data: Uint8Array,
    body?: (call: CallScript) => void
  ): void
  /**
   * Moves tokens between two token accounts by a call of the mint's token program. Throws a LackingFunds if the source
   * lacks them, an Error if an account is missing or of another mint.
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
  /** Transfers lamports by the system program. */
  transferLamports(from: Uint8Array, to: Uint8Array, lamports: bigint): void
  /** Creates a mint; its first supply comes from `mintTo`. */
  createMint(mint: NewMint): void
  /** Removes a mint's authority, so that no more tokens can be minted. */
  dropMintAuthority(mint: Uint8Array, authority: Uint8Array): void
  /** Creates the owner's associated token account unless it exists; returns its address. */
  ensureTokenAccount(owner: Uint8Array, mint: Uint8Array): Uint8Array
  /** Creates a token account at an address, such as a vault. */
  createTokenAccount(address: Uint8Array, owner: Uint8Array, mint: Uint8Array): void
  /** Closes a token account; its lamports, with those of wrapped SOL, go to `to`. */
  closeTokenAccount(address: Uint8Array, to: Uint8Array, authority: Uint8Array): void
  /** Converts the owner's lamports to tokens in the owner's associated account of wrapped SOL; returns its address. */
  wrap(owner: Uint8Array, lamports: bigint): Uint8Array
}

export interface TokenMovement {
  readonly mint: Uint8Array
  readonly from: Uint8Array
  readonly to: Uint8Array
  readonly authority: Uint8Array
  readonly amount: bigint
  /** Whether to use TransferChecked, the default like in nearly all programs, or plain Transfer. */
  readonly checked?: boolean
}

export interface NewMint {
  readonly address: Uint8Array
  readonly decimals: number
  readonly authority: Uint8Array
  /** Whether to use Token-2022 instead of the classic token program. */
  readonly token2022?: boolean
}

/** The market's reads of accounts, in their state after everything written so far. */
export interface LedgerView {
  lamports(address: Uint8Array): bigint
  /** Returns the raw amount in a token account; 0n if the account does not exist. */
  tokens(tokenAccount: Uint8Array): bigint
  /** Returns the bytes of an account; null if it does not exist. */
  data(address: Uint8Array): Uint8Array | null
  /** Returns a mint's facts; throws if the mint does not exist. */
  mint(address: Uint8Array): {
    readonly decimals: number
    readonly supply: bigint
    readonly program: Uint8Array
  }
  /** Returns the address of the owner's associated token account, whether or not it exists. */
  tokenAccountOf(owner: Uint8Array, mint: Uint8Array): Uint8Array
}
