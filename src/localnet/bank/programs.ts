import { pubkeyFromBase58, pubkeyMapKey } from '../../chain/pubkey.ts'
import type { Pubkey } from '../../chain/pubkey.ts'
import { TOKEN, TOKEN_2022 } from '../programs.ts'

/** Precompiles; the first byte of their data is a number of signatures that are paid for. */
const PRECOMPILES = keySet(
  'Ed25519SigVerify111111111111111111111111111',
  'KeccakSecp256k11111111111111111111111111111',
  'Secp256r1SigVerify1111111111111111111111111'
)

/** Programs that cost 3,000 units if no limit is set, because they are not bytecode (SIMD-0170). */
const BUILTINS = keySet(
  '11111111111111111111111111111111',
  'ComputeBudget111111111111111111111111111111',
  'Vote111111111111111111111111111111111111111',
  'BPFLoaderUpgradeab1e11111111111111111111111',
  'BPFLoader1111111111111111111111111111111111',
  'BPFLoader2111111111111111111111111111111111',
  'LoaderV411111111111111111111111111111111111',
  'KeccakSecp256k11111111111111111111111111111',
  'Ed25519SigVerify111111111111111111111111111'
)

const TOKEN_PROGRAMS = new Set([pubkeyMapKey(TOKEN), pubkeyMapKey(TOKEN_2022)])

export const isPrecompile = (program: Pubkey): boolean => PRECOMPILES.has(pubkeyMapKey(program))
export const isBuiltin = (program: Pubkey): boolean => BUILTINS.has(pubkeyMapKey(program))
export const isTokenProgram = (program: Pubkey): boolean => TOKEN_PROGRAMS.has(pubkeyMapKey(program))

function keySet(...addresses: readonly string[]): ReadonlySet<string> {
  return new Set(addresses.map((address) => pubkeyMapKey(pubkeyFromBase58(address))))
}
