/** Steps from a value to a field inside it: indexes and names. */
export type FieldPlace = readonly (string | number)[]

/** Returns a place in JavaScript notation, to be appended to the value: `[0].memcmp.offset`. */
export const placeText = (place: FieldPlace): string =>
  place.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('')
