import { join } from 'node:path'
import {
  Keypair,
  LAMPORTS_PER_SOL,
  PublicKey,
  SystemProgram,
  Transaction,
  type TransactionInstruction
} from '@solana/web3.js'
import t from 'tap'
import { NATIVE_MINT } from '../../src/chain/token-accounts.ts'
import {
  burn,
  closeAccount,
  createFeeMint,
  createMint,
  createTokenAccount,
  FEE_MINT_BYTES,
  mintTo,
  setFrozen,
  syncNative,
  TOKEN,
  TOKEN_2022,
  tokenAccountOf,
  transferChecked
} from '../localnet/bank/token-instructions.ts'
import { testWithValidator } from '../node/real-validator.ts'
import { closeConnection } from '../node/web3-flows.ts'
import { IS_LONG } from '../random-runs.ts'
import { ownDirectory } from '../own-directory.ts'
import { until } from './asking.ts'
import { startProcess } from './service-process.ts'

const DECIMALS = 3

/** A token account as a node parses it. */
interface ParsedHeld {
  readonly mint: string
  readonly state: string
  readonly tokenAmount: { readonly amount: string }
}

// A validator takes a core for itself.
if (!IS_LONG) t.pass('only in a long run')
else
  testWithValidator(
    t,
    'holders are those of accounts that the real token programs made',
    async (t, validator) => {
      const { connection, url } = validator
      t.teardown(() => closeConnection(connection))
      const flags = ['--source', 'rpc', '--rpc-url', url]
      const service = await startProcess({
        dataDir: join(ownDirectory(t), 'data'),
        recordedDir: null,
        more: flags
      })
      t.teardown(async () => {
        if (service.child.exitCode === null && service.child.signalCode === null) await service.end('SIGKILL')
        if (!t.passing()) for (const line of service.stderr.slice(-20)) t.comment(line)
      })
      const wallets = [Keypair.generate(), Keypair.generate(), Keypair.generate()] as const
      const [authority, second, third] = wallets
      const payer = authority.publicKey
      await Promise.all(
        wallets.map(async ({ publicKey }) => {
          const signature = await connection.requestAirdrop(publicKey, 10 * LAMPORTS_PER_SOL)
          await until(async () => {
            const { value } = await connection.getSignatureStatus(signature)
            return value?.confirmationStatus === 'confirmed' || value?.confirmationStatus === 'finalized'
          }, 'an airdrop')
        })
      )
      /** Sends a transaction; resolves with its slot once it is confirmed. */
      const send = async (
        instructions: readonly TransactionInstruction[],
        signers: readonly Keypair[]
      ): Promise<number> => {
        const { blockhash } = await connection.getLatestBlockhash()
        const transaction = new Transaction({ recentBlockhash: blockhash, feePayer: payer }).add(
          ...instructions
        )
        transaction.sign(authority, ...signers)
        const signature = await connection.sendRawTransaction(transaction.serialize())
        return until(async () => {
          const { value } = await connection.getSignatureStatus(signature)
          if (value?.err != null) throw new Error(JSON.stringify(value.err))
          return value?.confirmationStatus === 'confirmed' || value?.confirmationStatus === 'finalized'
            ? value.slot
            : null
        }, 'a transaction is confirmed')
      }
      const [classic, fees] = [Keypair.generate(), Keypair.generate()]
      const rent = BigInt(await connection.getMinimumBalanceForRentExemption(FEE_MINT_BYTES))
      const made = { decimals: DECIMALS, lamports: rent, freezes: true }
      await send(createMint(payer, classic, { program: TOKEN, ...made }), [classic])
      await send(createFeeMint(payer, fees, made), [fees])
      const mints = [
        { mint: classic.publicKey, program: TOKEN },
        { mint: fees.publicKey, program: TOKEN_2022 }
      ]
      for (const { mint, program } of mints)
        await send(
          wallets.flatMap(({ publicKey }, i) => [
            createTokenAccount(payer, publicKey, mint, program),
            mintTo(
              mint,
              tokenAccountOf(publicKey, mint, program),
              payer,
              BigInt(1_000_000 * (i + 1)),
              program
            )
          ]),
          []
        )
      const wsol = new PublicKey(NATIVE_MINT)
      const wrapped = tokenAccountOf(payer, wsol, TOKEN)
      let slot = await send(
        [
          createTokenAccount(payer, payer, wsol, TOKEN),
          SystemProgram.transfer({ fromPubkey: payer, toPubkey: wrapped, lamports: 5_000_000 }),
          syncNative(wrapped)
        ],
        []
      )
      /** Compares each list with the accounts of the node, which do not change meanwhile. */
      const equal = async (message: string): Promise<void> => {
        for (const { mint, program } of [...mints, { mint: wsol, program: TOKEN }]) {
          const path = `/v1/tokens/${mint.toBase58()}/holders?by=token_account&limit=100`
          const body = await until(async () => {
            const answer = await service.get(path)
            return answer.status === 200 && Number(answer.body.slot) >= slot ? answer.body : null
          }, `${message}: a list at slot ${slot}`)
          t.equal(body.stale_reason, null)
          const { value } = await connection.getTokenLargestAccounts(mint, 'confirmed')
          const held = value.filter(({ amount }) => amount !== '0')
          const rows = (body.data as { token_account: string; amount_raw: string }[]).map(
            ({ token_account: account, amount_raw: amount }) => `${account} ${amount}`
          )
          t.strictSame(
            rows.toSorted(),
            held.map(({ address, amount }) => `${address.toBase58()} ${amount}`).toSorted(),
            `${message}: ${mint.toBase58()} of ${program.toBase58()}`
          )
        }
      }
      await equal('first read from the node')
      for (const { mint, program } of mints) {
        const of = ({ publicKey }: Keypair): PublicKey => tokenAccountOf(publicKey, mint, program)
        const authorityKey = second.publicKey
        // With a fee of 3 %, up to 500, of the one mint.
        await send(
          [
            transferChecked(
              {
                mint,
                from: of(second),
                to: of(third),
                authority: authorityKey,
                amount: 9_999n,
                decimals: DECIMALS
              },
              program
            )
          ],
          [second]
        )
        // The account of a wallet is emptied, closed, and opened again.
        await send(
          [
            transferChecked(
              {
                mint,
                from: of(authority),
                to: of(second),
                authority: payer,
                amount: 1_000_000n,
                decimals: DECIMALS
              },
              program
            ),
            burn({ mint, from: of(second), authority: authorityKey, amount: 77n }, program)
          ],
          [second]
        )
        await send(
          [closeAccount(of(authority), payer, program), createTokenAccount(payer, payer, mint, program)],
          []
        )
        const frozen = { account: of(third), mint, authority: payer }
        slot = await send(
          [mintTo(mint, of(authority), payer, 5n, program), setFrozen(true, frozen, program)],
          []
        )
      }
      slot = await send(
        [
          closeAccount(wrapped, payer, TOKEN),
          createTokenAccount(payer, second.publicKey, wsol, TOKEN),
          SystemProgram.transfer({
            fromPubkey: payer,
            toPubkey: tokenAccountOf(second.publicKey, wsol, TOKEN),
            lamports: 7_000
          }),
          syncNative(tokenAccountOf(second.publicKey, wsol, TOKEN))
        ],
        []
      )
      await equal('followed from blocks')
      /** Compares a service's answers about a wallet with the accounts of the node. */
      const sameWallet = async ({ publicKey }: Keypair, state: 'frozen' | 'initialized'): Promise<void> => {
        const path = `/v1/wallets/${publicKey.toBase58()}`
        const accounts = await until(async () => {
          const { body } = await service.get(`${path}/token-accounts?include_zero=true`)
          return Number(body.slot) >= slot ? body.data : null
        }, `token accounts at slot ${slot}`)
        const answers = await Promise.all(
          [TOKEN, TOKEN_2022].map(async (programId) =>
            connection.getParsedTokenAccountsByOwner(publicKey, { programId }, 'confirmed')
          )
        )
        const held = answers.flatMap(({ value }) => value)
        const infoOf = ({ account }: (typeof held)[number]): ParsedHeld =>
          (account.data.parsed as { readonly info: ParsedHeld }).info
        t.strictSame(
          accounts.map(({ pubkey, mint, amount_raw, state }) => [pubkey, mint, amount_raw, state].join(' ')),
          held
            .map((each) => {
              const { mint, state, tokenAmount } = infoOf(each)
              return [each.pubkey.toBase58(), mint, tokenAmount.amount, state].join(' ')
            })
            .toSorted(),
          `the accounts of a wallet, ${state}`
        )
        const holdings = await until(async () => {
          const { body } = await service.get(`${path}/holdings`)
          return Number(body.slot) >= slot ? body.data : null
        }, `holdings at slot ${slot}`)
        for (const { mint } of mints) {
          const own = held.map(infoOf).find((info) => info.mint === mint.toBase58())!
          t.equal(own.state, state)
          t.match(
            holdings.find((row) => row['mint'] === mint.toBase58()),
            { amount_raw: own.tokenAmount.amount, frozen: state === 'frozen' }
          )
          const supply = await connection.getTokenSupply(mint, 'confirmed')
          const body = await until(async () => {
            const answer = await service.get(`/v1/metadata/${mint.toBase58()}`)
            return Number(answer.body.slot) >= slot ? answer.body : null
          }, `metadata at slot ${slot}`)
          t.match(body, { supply_raw: supply.value.amount, freeze_authority: payer.toBase58() })
        }
      }
      await sameWallet(third, 'frozen')
      for (const { mint, program } of mints) {
        const of = ({ publicKey }: Keypair): PublicKey => tokenAccountOf(publicKey, mint, program)
        const thawed = { account: of(third), mint, authority: payer }
        const paid = { mint, from: of(third), to: of(second), authority: third.publicKey }
        slot = await send(
          [
            setFrozen(false, thawed, program),
            transferChecked({ ...paid, amount: 1_234n, decimals: DECIMALS }, program)
          ],
          [third]
        )
      }
      await equal('after accounts were thawed')
      await sameWallet(third, 'initialized')
    }
  )
