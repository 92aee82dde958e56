import { SendFailure } from '../chain.ts'
import type { BundleOutcome, Simulation, SimulationOptions } from '../chain.ts'
import type { BlockProduction } from './block-production.ts'
import { isSigned } from '../../signing/ed25519.ts'
import type { Signer } from '../../signing/ed25519.ts'
import { transferWire } from './faucet.ts'
import type { RetainedBlocks } from './retained-blocks.ts'
import { readTransaction } from './read-transaction.ts'
import type { ReadTransaction } from './read-transaction.ts'
import type { Runtime } from './runtime.ts'
import type { WaitingTransactions } from './waiting-transactions.ts'

interface IntakeDeps {
  readonly runtime: Runtime
  readonly blocks: RetainedBlocks
  readonly waiting: WaitingTransactions
  readonly production: BlockProduction
  readonly faucet: Signer
}

/** Receives transactions of users: they wait for a block, are only simulated, or are refused. */
export class TransactionIntake {
  readonly #deps: IntakeDeps
  #airdrops = 0

  constructor(deps: IntakeDeps) {
    this.#deps = deps
  }

  send(bytes: Uint8Array, options: { readonly skipPreflight: boolean }): Uint8Array {
    const { blocks, waiting } = this.#deps
    const transaction = readTransaction(new Uint8Array(bytes))
    if (!isSigned(transaction.wire)) throw new SendFailure({ kind: 'signature' })
    const { signature } = transaction
    if (waiting.has(signature)) return signature
    if (!this.#mayLand(transaction)) throw new SendFailure({ kind: 'blockhash' })
    if (!options.skipPreflight) {
      const simulation = this.#simulated(transaction, [], true)
      if (simulation.err !== null) throw new SendFailure({ kind: 'preflight', simulation })
    }
    // Without preflight, a node accepts a landed transaction again, but does not land it a second time.
    if (!blocks.has(signature)) waiting.add(transaction)
    return signature
  }

  sendBundle(
    wires: readonly Uint8Array[],
    onOutcome: (outcome: BundleOutcome) => void
  ): readonly Uint8Array[] {
    const members = wires.map((bytes) => readTransaction(new Uint8Array(bytes)))
    if (!members.every(({ wire }) => isSigned(wire))) throw new SendFailure({ kind: 'signature' })
    this.#deps.waiting.addBundle({ members, onOutcome })
    return members.map(({ signature }) => signature)
  }

  simulate(bytes: Uint8Array, options: SimulationOptions): Simulation {
    const transaction = readTransaction(new Uint8Array(bytes))
    if (options.sigVerify && !isSigned(transaction.wire)) throw new SendFailure({ kind: 'signature' })
    const simulation = this.#simulated(transaction, options.accounts, !options.replaceRecentBlockhash)
    return options.replaceRecentBlockhash
      ? { ...simulation, replacement: this.#deps.blocks.latestBlockhash('processed') }
      : simulation
  }

  airdrop(to: Uint8Array, lamports: bigint): Uint8Array {
    const { blocks, waiting, faucet } = this.#deps
    const { blockhash } = blocks.latestBlockhash('processed')
    for (;;) {
      const wire = transferWire(faucet, to, lamports, blockhash, this.#airdrops++)
      const { signature } = readTransaction(wire)
      // Serials restart with the process, so one may already be used with this blockhash.
      if (!blocks.has(signature) && !waiting.has(signature)) return this.send(wire, { skipPreflight: false })
    }
  }

  #simulated(
    transaction: ReadTransaction,
    accounts: SimulationOptions['accounts'],
    isChecked: boolean
  ): Simulation {
    if (isChecked && !this.#mayLand(transaction)) return refused('BlockhashNotFound', accounts)
    if (this.#deps.blocks.has(transaction.signature)) return refused('AlreadyProcessed', accounts)
    return { ...this.#deps.runtime.simulate(transaction, accounts), replacement: null }
  }

  #mayLand(transaction: ReadTransaction): boolean {
    const { blocks, production } = this.#deps
    return production.mayLand(transaction, blocks.headerAt('processed').blockHeight + 1)
  }
}

function refused(err: string, requested: SimulationOptions['accounts']): Simulation {
  const accounts = requested.map(() => null)
  return { err, logs: [], computeUnits: 0n, inner: [], returnData: null, accounts, replacement: null }
}
