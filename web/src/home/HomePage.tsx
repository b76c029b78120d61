export function HomePage() {
  return <div class="page" />;
}
