import { z } from 'zod'
import { pubkeyFromBase58 } from '../../chain/pubkey.ts'

/** A setting of an operator: its parser, default and meaning. */
export interface Setting {
  readonly schema: z.ZodType
  readonly fallback: string
  readonly secret?: boolean
  readonly meaning: string
}

/** Settings of a product, by name. */
export type Settings = Readonly<Record<string, Setting>>

/** The values of some settings. */
export type Values<S extends Settings> = { readonly [Name in keyof S]: z.output<S[Name]['schema']> }

/** A comma-separated list. */
export const list = <T>(item: z.ZodType<T, string>, least = 0) =>
  z
    .string()
    .transform((text) =>
      text
        .split(',')
        .map((part) => part.trim())
        .filter((part) => part !== '')
    )
    .pipe(z.array(item).min(least, 'is empty'))

/** A comma-separated list whose empty places are null: its places match those of another list. */
export const sparseList = <T>(item: z.ZodType<T, string>) =>
  z
    .string()
    .transform((text) => (text.trim() === '' ? [] : text.split(',').map((part) => part.trim())))
    .pipe(z.array(z.union([z.literal('').transform(() => null), item])))

/** Comma-separated `NAME=NUMBER` with distinct names, as numbers by name. */
export const weights = (name: RegExp, min: number, max: number) =>
  list(z.string()).transform((parts, context): Readonly<Record<string, number>> => {
    const found = new Map<string, number>()
    for (const part of parts) {
      const [, key = '', text = ''] = /^([^=]*)=(\d{1,9})$/.exec(part) ?? []
      const value = Number(text)
      if (!name.test(key)) context.addIssue(`has ${part}, which is not NAME=NUMBER`)
      else if (value < min || value > max) context.addIssue(`has ${part}, which is not from ${min} to ${max}`)
      else if (found.has(key)) context.addIssue(`has ${key} twice`)
      found.set(key, value)
    }
    return Object.fromEntries(found)
  })

/** A whole number from `min` to `max`, both included. */
export const integer = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d+$/, 'is not a whole number')
    .transform(Number)
    .pipe(z.number().min(min, `is below ${min}`).max(max, `is above ${max}`))

const URL_SCHEMAS = new WeakSet<z.ZodType>()

/** A URL with one of the given protocols. Always shown masked: operators put keys into any component of a URL. */
export const url = (...protocols: string[]) =>
  checkedUrl((text) =>
    URL.canParse(text) && protocols.includes(new URL(text).protocol)
      ? null
      : `is not a URL with ${protocols.join(' or ')}`
  )

/** A URL in which `problemOf` finds no problem; it may name several hosts. Shown masked, as every URL. */
export function checkedUrl(problemOf: (text: string) => string | null) {
  const schema = z.string().superRefine((text, context) => {
    const problem = problemOf(text)
    if (problem !== null) context.addIssue({ code: 'custom', message: problem })
  })
  URL_SCHEMAS.add(schema)
  return schema
}

/** Tells whether a setting's values are URLs, or lists of them. */
export function hasUrls(schema: z.ZodType): boolean {
  if (URL_SCHEMAS.has(schema)) return true
  if (schema instanceof z.ZodUnion) return schema.options.some((each) => hasUrls(each as z.ZodType))
  if (schema instanceof z.ZodPipe) return hasUrls(schema.out as z.ZodType)
  return schema instanceof z.ZodArray && hasUrls(schema.element as z.ZodType)
}

/** Reads an empty text as null. */
export const optional = <T>(schema: z.ZodType<T, string>) =>
  z.union([z.literal('').transform(() => null), schema])

/** `true` or `false`. */
export const flag = z
  .enum(['true', 'false'], 'is neither true nor false')
  .transform((text) => text === 'true')

/** One of the given words. */
export const choice = <const T extends readonly [string, ...string[]]>(...values: T) =>
  z.enum(values, `is not one of ${values.join(', ')}`)

/** The base58 address of a mint. */
export const mint = z.string().refine(isAddress, 'is not a base58 address of 32 bytes')

/** A positive number; `otherwise` is the error for any other text. */
const positive = (otherwise: string) =>
  z
    .string()
    .regex(/^\d+(\.\d+)?$/, otherwise)
    .transform(Number)
    .pipe(z.number().positive('is not above 0'))

/** A positive number. */
export const factor = positive('is not a positive number')

const otherFactor = positive('is neither max nor a positive number')

/** `max`, or a positive number. */
export const maxOrFactor = z.string().transform((text, context): number | 'max' => {
  if (text === 'max') return text
  const read = otherFactor.safeParse(text)
  if (read.success) return read.data
  context.addIssue(read.error.issues[0]!.message)
  return z.NEVER
})

const port = integer(1, 65_535)

/** `auto`, `off`, or a port. */
export const autoOffOrPort = z.string().transform((text, context): number | 'auto' | 'off' => {
  if (text === 'auto' || text === 'off') return text
  const read = port.safeParse(text)
  if (read.success) return read.data
  context.addIssue(/^\d+$/.test(text) ? read.error.issues[0]!.message : 'is neither auto, off nor a port')
  return z.NEVER
})

/** A text that is not empty. */
export const text = z.string().min(1, 'is empty')

/** A list of names; `all` means all of them. */
export const listOrAll = <const T extends readonly [string, ...string[]]>(...names: T) =>
  z
    .string()
    .transform((text) => (text === 'all' ? names.join(',') : text))
    .pipe(list(choice(...names), 1))

function isAddress(text: string): boolean {
  try {
    pubkeyFromBase58(text)
    return true
  } catch {
    return false
  }
}
