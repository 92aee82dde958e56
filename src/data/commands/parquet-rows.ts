import type { FileHandle } from 'node:fs/promises'
import { ByteWriter, ParquetWriter, type BasicType, type ColumnSource } from 'hyparquet-writer'
import { z } from 'zod'
import { version } from '../../version.ts'
import type { ExportedRow, FileColumns } from './exported-rows.ts'

/** Rows of a row group, which is in memory before it is written: 20 MB of trades. */
const ROW_GROUP_ROWS = 10_000

interface ParquetColumn {
  readonly name: string
  readonly type: BasicType
}

/** Writes rows as Parquet, one row group at a time. Each column may be null. Nested values are JSON text. */
export class ParquetRows {
  readonly #columns: readonly ParquetColumn[]
  readonly #bytes = new ByteWriter()
  readonly #handle: FileHandle
  readonly #writer: ParquetWriter
  #rows: ExportedRow[] = []

  constructor(handle: FileHandle, { columns, row }: FileColumns) {
    this.#handle = handle
    this.#columns = columns.map((name) => ({ name, type: parquetType(row.shape[name] as z.ZodType) }))
    const root = { name: 'root', num_children: columns.length }
    const elements = this.#columns.map(({ name, type }) => ({
      name,
      repetition_type: 'OPTIONAL' as const,
      ...(type === 'STRING'
        ? { type: 'BYTE_ARRAY' as const, converted_type: 'UTF8' as const }
        : { type: type as 'BOOLEAN' | 'DOUBLE' | 'INT64' })
    }))
    this.#writer = new ParquetWriter({
      writer: this.#bytes,
      schema: [root, ...elements],
      createdBy: `millrace version ${version}`
    })
  }

  async add(row: ExportedRow): Promise<void> {
    this.#rows.push(row)
    if (this.#rows.length === ROW_GROUP_ROWS) await this.#writeGroup()
  }

  async end(): Promise<void> {
    if (this.#rows.length > 0) await this.#writeGroup()
    await this.#writer.finish()
    await this.#flush()
  }

  async #writeGroup(): Promise<void> {
    const rows = this.#rows
    this.#rows = []
    const columnData = this.#columns.map(({ name, type }): ColumnSource => {
      const data = rows.map(({ body }) => parquetValue(body[name], type))
      return { name, data, type, offsetIndex: false }
    })
    await this.#writer.write({ columnData, rowGroupSize: ROW_GROUP_ROWS })
    await this.#flush()
  }

  /** Writes the bytes so far to the file. */
  async #flush(): Promise<void> {
    await this.#handle.appendFile(this.#bytes.getBytes())
    this.#bytes.index = 0
  }
}

/** Returns the type of a field of rows. An amount in base units is text: it may exceed 64 bits with a sign. */
export function parquetType(schema: z.ZodType): BasicType {
  if (schema instanceof z.ZodNullable || schema instanceof z.ZodOptional)
    return parquetType(schema.unwrap() as z.ZodType)
  if (schema instanceof z.ZodBoolean) return 'BOOLEAN'
  if (schema instanceof z.ZodNumber) return schema.isInt ? 'INT64' : 'DOUBLE'
  if (schema instanceof z.ZodLiteral) {
    const [value] = schema.values
    return typeof value === 'boolean' ? 'BOOLEAN' : typeof value === 'number' ? 'INT64' : 'STRING'
  }
  return 'STRING'
}

function parquetValue(value: unknown, type: BasicType): unknown {
  if (value === null || value === undefined) return null
  if (type === 'INT64') return BigInt(value as number)
  return typeof value === 'object' ? JSON.stringify(value) : value
}
