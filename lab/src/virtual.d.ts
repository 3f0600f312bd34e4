declare module "virtual:engine" {
  const base64: string;
  export default base64;
}
declare module "virtual:speech" {
  const base64: string;
  export default base64;
}

declare module "*?raw" {
  const text: string;
  export default text;
}
