import type { Amendment } from '../../src/market/amendment.ts'
import { addressText, byName, MANY, rowText, SINGLE } from '../../src/market/records.ts'
import type { BlockCommit, ManyName, RowOf, SingleName } from '../../src/market/records.ts'

type RowMaps = { readonly [Name in ManyName]: Map<string, RowOf<Name>> }
type Singles = { -readonly [Name in SingleName]: RowOf<Name> | null }

/** The newest rows of every record in plain Maps, by the text of their addresses. */
export class PlainRows {
  readonly maps = byName<RowMaps>(MANY, () => new Map())
  readonly singles = byName<Singles>(SINGLE, () => null)

  commit(block: BlockCommit): void {
    for (const name of MANY) this.#put(name, block[name])
    for (const name of SINGLE) this.singles[name] = block[name] ?? this.singles[name]
  }

  amend(amendment: Amendment): void {
    for (const name of MANY) {
      const { put, remove } = amendment[name]
      for (const address of remove) this.maps[name].delete(addressText(name, address))
      this.#put(name, put)
    }
    for (const name of SINGLE) this.singles[name] = amendment[name]
  }

  all<Name extends ManyName>(name: Name): RowOf<Name>[] {
    return [...this.maps[name].values()]
  }

  #put<Name extends ManyName>(name: Name, rows: readonly RowOf<Name>[]): void {
    for (const row of rows) this.maps[name].set(rowText(name, row), row)
  }
}
