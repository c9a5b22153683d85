/*
 * languages.c: the words at which spot signatures start, and the stop words.
 *
 * Antecedents are words that make sentences: forms of be, have and do, modal verbs,
 * pronouns.  Articles and prepositions are more frequent, but titles and menus have them,
 * too.  The English stop words also start the shingles of scheme 'stopword'.
 *
 * The lists are part of the recipe (doc/explanation/recipe.md), and so is the order of the languages,
 * whose numbers are in stored schemes.  All words are normalised tokens, sorted by their
 * bytes.  A contraction is the tokens that its apostrophe leaves: "don't" is "don" and "t".
 * Antecedents are stop words, too.
 */
#include "text/internal.h"

#include <string.h>

const Language languages[] = {
	{.code = "en",
	 .antecedents =
		 "am are be been can could did do does had has have he is it may might must shall she "
		 "should that they this was we were which will would you",
	 .stop_words =
		 "a about above across after again against all along also although always am among an "
		 "and another any are around as at be because been before behind being below between "
		 "beyond both but by can could couldn d did didn do does doesn doing don down during "
		 "each either else enough even ever every few for from further had hadn has hasn have "
		 "haven having he hence her here hers herself him himself his how however i if in into "
		 "is isn it its itself just less ll m many may me might more most much must my myself "
		 "near neither never no nor not now of off often on once only or other our ours "
		 "ourselves out over own per quite rather re s same shall she should shouldn since so "
		 "some such t than that the their theirs them themselves then there therefore these "
		 "they this those though through thus to too toward towards under unless until up upon "
		 "us ve very was wasn we were weren what when where whether which while who whom whose "
		 "why will with within without won would wouldn yet you your yours yourself yourselves"},
	{.code = "de",
	 .antecedents =
		 "bin dass er es habe haben hat hatte hatten ich ist kann konnte können man muss "
		 "musste müssen sich sie sind soll sollte sollten war waren werden wir wird wurde "
		 "wurden würde würden",
	 .stop_words =
		 "aber alle allem allen aller alles als also am an ander andere anderem anderen "
		 "anderer anderes auch auf aus ausser bei beim bereits bevor bin bis bist da dabei "
		 "dadurch dafür dagegen daher dahin damit danach dann daran darauf daraus darf darin "
		 "darum darunter darüber das dass davon davor dazu dein deine deinem deinen deiner "
		 "deines dem den denen denn dennoch der deren des deshalb dessen dich die dies diese "
		 "dieselbe dieselben diesem diesen dieser dieses dir doch dort du durch dürfen ein "
		 "eine einem einen einer eines einige einigem einigen einiger einiges einmal entweder "
		 "er erst es etwa etwas euch euer eure eurem euren eurer für ganz gar gegen "
		 "gegenüber gemäss gewesen hab habe haben hast hat hatte hatten hattest hier hin "
		 "hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer ihres im immer in indem "
		 "innerhalb ins ist ja je jede jedem jeden jeder jedes jedoch jene jenem jenen jener "
		 "jenes jetzt kann kannst kein keine keinem keinen keiner konnte können könnte "
		 "könnten lassen machen man manche manchem manchen mancher manches mehr mein meine "
		 "meinem meinen meiner meines mich mir mit muss musste möglich müssen nach nachdem "
		 "neben nein nicht nichts noch nun nur ob obwohl oder ohne schon sehr sei seid sein "
		 "seine seinem seinen seiner seines seit seitdem selbst sich sie siehe sind so sobald "
		 "sogar solche solchem solchen solcher solches soll sollen sollte sollten somit "
		 "sondern sonst soweit sowie statt trotz um und uns unser unsere unserem unseren "
		 "unserer unter usw viel viele vielen vieler vom von vor wann war waren warum was "
		 "weder wegen weil weiter welche welchem welchen welcher welches wenig wenige wenn wer "
		 "werde werden werdet weshalb wessen wie wieder will wir wird wirst wo wobei wodurch "
		 "wohin wollen worden wurde wurden während wäre würde würden zu zum zur zwar "
		 "zwischen über"},
	{.code = "fr",
	 .antecedents =
		 "a ai avaient avait cela doit doivent elle elles est fut il ils je nous on ont peut "
		 "peuvent qui se sera seront sont vous étaient était été",
	 .stop_words =
		 "a afin ai ainsi ait alors après as au aucun aucune aujourd auquel aussi autre "
		 "autres aux auxquelles auxquels avaient avait avant avec avez avoir avons ayant c car "
		 "ce ceci cela celle celles celui cependant ces cet cette ceux chacun chacune chaque "
		 "chez ci comme comment contre d dans de dehors delà depuis derrière des desquelles "
		 "desquels dessous dessus deux devant doit doivent donc dont du duquel durant dès "
		 "déjà elle elles en encore entre envers es est et eu eux faire fait fois font "
		 "furent fut grâce hors hui ici il ils j je jusqu jusque l la laquelle le lequel les "
		 "lesquelles lesquels leur leurs lors lorsqu lorsque lui là m ma mais malgré me mes "
		 "mien mienne moi moins mon même mêmes n ne ni nos notre nous nôtre on ont or ou "
		 "où par parce parmi pas peu peut peuvent plus plusieurs plutôt pour pourquoi "
		 "presque près puis puisqu puisque qu quand que quel quelle quelles quelqu quelque "
		 "quelques quels qui quiconque quoi s sa sans sauf se selon sera serait seront ses "
		 "seulement si sien sienne soi soit sommes son sont sous soyez suis sur surtout t ta "
		 "tandis tant te tel telle telles tels tes toi ton toujours tous tout toute toutefois "
		 "toutes trop très tu un une vers voici voilà vos votre vous vu y ça étaient "
		 "étais était étant étions été êtes être"},
	{.code = "es",
	 .antecedents =
		 "debe deben ella ellos era eran es está están fue fueron ha había habían han hay "
		 "pueda puede pueden que se ser será son él",
	 .stop_words =
		 "a acá ahora ahí al algo alguna algunas alguno algunos algún allá allí ambos "
		 "ante antes aquel aquella aquellas aquello aquellos aquí así aun aunque aún bajo "
		 "bien cada casi como con contra cual cuales cualquier cualquiera cuando cuanto cuya "
		 "cuyas cuyo cuyos cuál cuándo cómo da de debe deben del demás dentro desde "
		 "después donde dos durante dónde e el ella ellas ello ellos en entonces entre era "
		 "eran eres es esa esas ese eso esos esta estaba estaban estado estamos estar estas "
		 "este esto estos estoy está están fin fue fuera fueron ha haber había habían hace "
		 "hacen hacer hacia han hasta hay he hemos incluso jamás junto la las le les lo los "
		 "luego mas me mediante menos mi mientras mis misma mismas mismo mismos mucha muchas "
		 "mucho muchos muy más mí mía mías mío míos nada ni ninguna ninguno ningún no "
		 "nos nosotras nosotros nuestra nuestras nuestro nuestros nunca o os otra otras otro "
		 "otros para pero poca pocas poco pocos podría podrían por porque posible pudo pueda "
		 "puede pueden pues que quien quienes quién qué se sea sean según ser será serán "
		 "si sido siempre siendo sin sino sobre sois solamente solo somos son soy su sus suya "
		 "suyas suyo suyos sí sólo tal tales también tampoco tan tanta tantas tanto tantos "
		 "te tenemos tener tengo ti tiene tienen toda todas todavía todo todos tras tu tus "
		 "tuya tuyo tú u un una unas uno unos usted ustedes va vamos van varias varios "
		 "vosotras vosotros vuestra vuestro y ya yo él"},
	{.code = "it",
	 .antecedents =
		 "aveva avevano che deve devono era erano fu ha hanno noi possono può saranno sarà "
		 "si sia siano sono stata stato è",
	 .stop_words =
		 "a abbia abbiamo ad affinché agli ai al alcun alcuna alcune alcuni all alla alle "
		 "allo allora altra altre altri altro anche ancora anzi appena assai attraverso avendo "
		 "aver avere avete aveva avevano avuto ben bensì c che chi ché ci ciascun ciascuna "
		 "ciascuno cioè circa ciò coi col come con contro cosa così cui d da dagli dai dal "
		 "dall dalla dalle dallo davanti degli dei del dell della delle dello dentro deve "
		 "devono di dietro dopo dove dovrebbe due dunque durante e ebbe ecco ed ella era erano "
		 "eri essa esse essendo essere essi esso fa fanno fare fin finché fino forse fosse "
		 "fra fu fuori furono già gli ha hai hanno ho i il in infatti inoltre insieme invece "
		 "io l la le lei li lo loro lui lungo là lì ma mai me medesimo meno mentre mi mia "
		 "mie miei mio molta molte molti molto ne neanche negli nei nel nell nella nelle nello "
		 "nessun nessuna nessuno niente no noi non nostra nostre nostri nostro nulla né o od "
		 "ogni ognuno oltre oppure ora parecchi per perché perciò però piuttosto più po "
		 "poca poche pochi poco poi poiché possa possono presso prima proprio può qual "
		 "qualche qualcosa qualcuno quale quali qualora qualsiasi qualunque quando quanta "
		 "quante quanti quanto quasi quegli quei quel quella quelle quelli quello questa "
		 "queste questi questo qui quindi saranno sarà se sebbene secondo sei sempre senza si "
		 "sia siamo siano siete solo soltanto sono sopra sotto sta stata state stati stato "
		 "stessa stesso su sua sue sugli sui sul sull sulla sulle sullo suo suoi sé tale tali "
		 "tanto te ti tra tranne troppo tu tua tue tuo tuoi tutta tuttavia tutte tutti tutto "
		 "un una uno v verso vi via voi vostra vostri vostro è"},
	{.code = "nl",
	 .antecedents =
		 "dat had hadden hebben heeft hij is kan kon kunnen moest moet moeten waren was we "
		 "werd werden wij worden wordt zal ze zijn zou zouden",
	 .stop_words =
		 "aan aangaande achter af al alle alleen alles als alsook altijd ander andere anderen "
		 "behalve beide ben beneden bent bij binnen boven buiten daar daarbij daardoor daarmee "
		 "daarna daarnaast daarom daarop daarvan dan dat de deze die dit doch doen door dus "
		 "een eens eer eerst elk elke en enige enkel enkele er ertoe etc even evenals ge geen "
		 "geweest gij haar had hadden heb hebben hebt heeft hem hen het hier hierbij hierdoor "
		 "hierna hiervan hij hoe hoewel hun ieder iedere iemand iets ik in indien is ja je jij "
		 "jou jouw juist kan kon konden kunnen maar mag me meer meest men met mij mijn minder "
		 "mocht moest moet moeten na naar naast nadat nee niemand niet niets noch nog nogal "
		 "nooit nu of om omdat ondanks onder ons onze ook op over overigens pas per reeds rond "
		 "rondom s sinds sommige steeds t te tegen tenzij terwijl tevens toch toe toen tot "
		 "totdat tussen u uit uw vaak van vanaf vanuit vanwege veel verder via volgens voor "
		 "vooral voordat waar waarbij waardoor waarin waarom waarop waarvan wanneer want waren "
		 "was wat we weer weinig wel welk welke werd werden wie wij wil worden wordt zal ze "
		 "zeer zei zelf zelfs zich zij zijn zijne zo zoals zodat zodra zonder zou zouden zowel "
		 "zulke zullen"},
	{.code = "pt",
	 .antecedents =
		 "deve devem ela ele eles era eram está estão foi foram há pode podem que se seja "
		 "será são tem tinha tinham têm é",
	 .stop_words =
		 "a abaixo acima agora ainda algo algum alguma algumas alguns alguém ali além ambos "
		 "ante antes ao aos apenas após aquela aquelas aquele aqueles aqui aquilo as assim "
		 "através até aí bem cada com como contra contudo cuja cujas cujo cujos cá da "
		 "daquela daquele daqui das de debaixo dela delas dele deles demais dentro depois "
		 "desde dessa desse desta deste deve devem disso disto do dois dos durante e ela elas "
		 "ele eles em embora enquanto entanto entre então era eram essa essas esse esses esta "
		 "estar estas estava estavam este estes estou está estão eu faz fazem fazer foi "
		 "fomos for fora foram fosse fossem haver havia há isso isto jamais junto já lhe "
		 "lhes logo lá mais mas me meio menos mesma mesmas mesmo mesmos meu meus mim minha "
		 "minhas muita muitas muito muitos na nada naquela naquele nas nela nele nem nenhum "
		 "nenhuma nessa nesse nesta neste ninguém nisso no nos nossa nossas nosso nossos num "
		 "numa nunca não nós o onde os ou outra outras outro outros para pela pelas pelo "
		 "pelos per perante pode podem poder pois por porque porquê porém pouca poucas pouco "
		 "poucos quais qual qualquer quando quanta quanto quantos quase que quem quer quê se "
		 "seja sejam sem sempre sendo ser será serão seu seus si sido sim sob sobre somente "
		 "somos sou sua suas são só tais tal também tampouco te tem temos tendo tenha ter "
		 "teu teus ti tido tinha tinham toda todas todavia todo todos tu tua tuas tudo tão "
		 "têm um uma umas uns vai vamos vem você vocês vos vossa vosso várias vários vão "
		 "vêm à às é és"},
	{.code = "sv",
	 .antecedents =
		 "blev blir de det hade han har hon kan kunde man måste ni ska skall skulle som var "
		 "vi är",
	 .stop_words =
		 "alla allt alltid andra annan annat att av bakom bara bland blev bli blir blivit bort "
		 "bredvid både de dem den denna deras dess dessa det detta dig din dina dit ditt dock "
		 "du där därför då e efter eftersom ej eller emellan emot en enligt er era ert ett "
		 "fast fler flera fram framför från få får för före först genom gör göra ha "
		 "hade haft han hans har hela helt henne hennes hit hon honom hos hur här i ibland "
		 "icke in inför inga ingen inget innan inne inom inte istället ja jag ju just kan "
		 "kring kunde kunna kvar lika liksom man med medan mellan men mer mest mig min mina "
		 "minst mitt mot mycket många måste ned nej ner ni nog nu när någon något några "
		 "nån och också om oss på redan samma samt sedan sen sig sin sina sitt själv ska "
		 "skall skulle som så sådan sådana sådant ta till tills trots tvärs under upp ur "
		 "ut utan utanför utom utöver va vad var vara varför varit varje vars vart vem vems "
		 "vi vid vilka vilken vilket vill vår våra vårt än ännu är även åt över"},
};

const int language_count = sizeof(languages) / sizeof(languages[0]);

/* Returns the number of the language of a code, -1 if it is not known. */
int
language_called(const char *code, size_t length)
{
	for (int i = 0; i < language_count; i++)
		if (strlen(languages[i].code) == length && memcmp(languages[i].code, code, length) == 0)
			return i;
	return -1;
}
