import type { SchemaElement } from 'hyparquet'

/** Returns the text of a decoded Parquet value; null for a value that has no text, as a list. */
export function parquetText(value: unknown, element: SchemaElement): string | null {
  if (isDecimal(element)) return decimalText(value, scaleOf(element))
  switch (typeof value) {
    case 'string':
      return value
    case 'bigint':
    case 'boolean':
      return value.toString()
    case 'number':
      return doubleText(value)
    default:
      if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'NaN' : value.toISOString()
      return value instanceof Uint8Array
        ? Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('utf8')
        : null
  }
}

/** Whether a column holds decimals: whole numbers with a scale. */
export const isDecimal = ({ converted_type, logical_type }: SchemaElement): boolean =>
  converted_type === 'DECIMAL' || logical_type?.type === 'DECIMAL'

function scaleOf({ scale, logical_type }: SchemaElement): number {
  return scale ?? (logical_type?.type === 'DECIMAL' ? logical_type.scale : 0)
}

/** Writes a double, with an exponent from 2^53 on, which tells that digits are lost. */
function doubleText(value: number): string {
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? value.toExponential() : String(value)
}

/** Writes a decimal exactly. It is stored as a whole number, or as its bytes, the highest first. */
function decimalText(value: unknown, scale: number): string | null {
  const whole = wholeOf(value)
  if (whole === null) return null
  if (scale === 0) return whole.toString()
  const digits = (whole < 0n ? -whole : whole).toString().padStart(scale + 1, '0')
  return `${whole < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`
}

function wholeOf(value: unknown): bigint | null {
  if (typeof value === 'bigint') return value
  if (typeof value === 'number') return BigInt(value)
  if (!(value instanceof Uint8Array) || value.length === 0) return null
  return BigInt.asIntN(value.length * 8, BigInt(`0x${Buffer.from(value).toString('hex')}`))
}
