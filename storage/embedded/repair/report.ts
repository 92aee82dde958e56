import { damageText } from '../damaged-keys.ts'
import { readKnownDamage } from '../engine-files/isolation.ts'
import { checkStore, holdsStore, NOTHING_TRUSTED, type StoreCheck } from '../engine-files/store-check.ts'
import { lettersIn, nameOf, slotsIn } from './lost-records.ts'

export interface DamageReport {
  /** Damage for which the store cannot be opened, each in one line. */
  readonly fatal: readonly string[]
  readonly damage: readonly {
    readonly file: string
    readonly detail: string
    /** The keys in hexadecimal, the last one excluded; null if no keys are lost. */
    readonly keys: { readonly from: string; readonly until: string } | null
    /** Kinds of rows that the keys can be of, and their slots where the keys say them. */
    readonly mayHaveHeld: readonly {
      readonly kind: string
      readonly slots: { from: number; to: number } | null
    }[]
  }[]
  readonly checked: StoreCheck['checked']
}

/** Reports the damage in a store's files, and the damage isolated before; null if the store does not exist. */
export async function reportDamage(directory: string): Promise<DamageReport | null> {
  if (!(await holdsStore(directory))) return null
  const { tables, fatal, checked } = await checkStore(directory, NOTHING_TRUSTED)
  const damage = [...(await readKnownDamage(directory)), ...tables].map((found) => {
    const { file, keys } = found
    return {
      file,
      detail: damageText(found),
      keys: keys && { from: keys.gte.toString('hex'), until: keys.lt.toString('hex') },
      mayHaveHeld:
        keys === null
          ? []
          : lettersIn(keys).map((letter) => ({ kind: nameOf(letter), slots: slotsIn(keys, letter) }))
    }
  })
  return { fatal, damage, checked }
}
